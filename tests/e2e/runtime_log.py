"""Compares `ttscope show --json` of a generated runtime log with the truth file of the generator.

usage: runtime_log.py TTSCOPE LOG
The log is LOG, its truth LOG.truth.json.
"""
import json
import subprocess
import sys

ROUNDING = 525  # bytes that three decimals of a MiB hide


def main():
    program, path = sys.argv[1:]
    with open(path + ".truth.json") as file:
        truth = json.load(file)
    options = truth["options"]
    command = [program, "show", "--json", "--top", "100", path]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"exit code {run.returncode}: {run.stderr}")
    answer = json.loads(run.stdout)
    by_name = {rank["rank"]: rank for rank in answer["ranks"]} or {None: answer}
    wrong = []

    def same(what, mine, wanted, tolerance=0):
        close = mine == wanted if mine is None or wanted is None else abs(mine - wanted) <= tolerance
        if not close:
            wrong.append(f"{what}: {mine}, wanted {wanted}")

    if len(by_name) != len(truth["ranks"]):
        wrong.append(f"ranks {list(by_name)}")
    for entry in truth["ranks"]:
        name = None if entry["rank"] is None else f"1,{entry['rank']}"
        mine = by_name.get(name)
        if not mine:
            wrong.append(f"no rank {name}")
            continue
        check_rank(same, wrong, mine, entry, options, name)
    has_failure = any(entry["oom"] for entry in truth["ranks"])
    if bool(answer["failures"]) != has_failure:
        wrong.append(f"failures: {answer['failures']}")
    for text in wrong[:20]:
        print("differs:", text)
    return 1 if wrong else 0


def check_rank(same, wrong, mine, truth, options, name):
    same(f"{name} ops", mine["ops"], truth["ops"])
    same(f"{name} op lines", mine["op_lines"], truth["op_lines"])
    same(f"{name} blocks", mine["blocks"], truth["memory_blocks"])
    counts = truth["counts"]
    if not options["memory_only"]:
        same(f"{name} deallocations", mine["deallocations"], counts["deallocs"])
        same(f"{name} const-eval operations", mine["const_eval_ops"], counts["const_eval_ops"])
        runs = sum(p["runs"] for p in mine["programs"] if p["kind"] == "program")
        same(f"{name} programs", runs, counts["programs"])
    if not options["no_memory"] and mine["block_kinds"] != truth["blocks_by_kind"]:
        wrong.append(f"{name} kinds: {mine['block_kinds']}")
    # Bytes that appear inside of operations are reported, and known to three decimals only.
    hidden = options["binaries"] or options["l1"] or options["oom"]
    # Without memory blocks nothing shows binaries, traces, small L1 buffers and kept outputs.
    guess = options["no_memory"] and (hidden or options["trace"] or options["leak"])
    for pool, wanted in truth["pools"].items():
        got = mine["pools"][pool]
        if guess or "peak" not in wanted or (got is None and wanted["peak"]["allocated"] == 0):
            continue
        check_pool(same, got, wanted, options, hidden, f"{name} {pool}")


def check_pool(same, mine, truth, options, hidden, what):
    tolerance = ROUNDING if options["memory_only"] else 0
    if options["trace"] and options["kv"]:
        tolerance = ROUNDING  # no line tells which of the unused arguments are caches
    if hidden:
        tolerance = max(tolerance, 2 * ROUNDING)
    for key in ("first", "last", "peak"):
        same(f"{what} {key}", mine[f"{key}_bytes_per_bank"], truth[key]["allocated"], tolerance)
    at = mine["peak_at"]
    same(f"{what} peak at", at["op_index"], truth["peak"]["op_index"])
    if options["no_memory"]:
        same(f"{what} peak line", at["line"], truth["peak"]["line"])
        return
    same(f"{what} peak block", mine["peak_block"], truth["peak"]["op_index"])
    if options["ranks"] < 2 or options["rank_order"] == "sequential":
        same(f"{what} peak line", at["line"] + 4, truth["peak"]["line"])  # the last line of the block
    same(f"{what} banks", mine["banks"], truth["banks"])
    same(f"{what} capacity", mine["capacity_bytes_per_bank"], truth["bytes_per_bank"], ROUNDING)
    same(f"{what} free at peak", mine["peak_free_bytes_per_bank"], truth["peak"]["free"], ROUNDING)
    same(f"{what} largest at peak", mine["peak_largest_free_bytes_per_bank"], truth["peak"]["largest"],
         ROUNDING)
    same(f"{what} smallest largest", mine["least_largest_free_bytes_per_bank"],
         truth["largest_free"]["min"]["bytes"], ROUNDING)
    if not options["memory_only"] and not hidden:
        same(f"{what} drift", mine["drift"]["differing"], 0)


if __name__ == "__main__":
    sys.exit(main())
