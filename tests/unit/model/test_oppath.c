#include "harness/item_rig.h"
#include "harness/t.h"
#include "model/ophelper.h"
#include "model/oppath.h"

#include <stdio.h>
#include <string.h>

static struct tts_oppath *paths;
static struct tts_fold *fold;
static struct item_rig items;

static void begin(void)
{
    items = (struct item_rig){0};
    T_EQ(tts_fold_new(
             &(struct tts_tracker_config){.live_max = 64, .devices_max = 4, .ops_max = 8}, NULL,
             &fold),
         TTS_OK);
    T_EQ(tts_oppath_new(NULL, &paths), TTS_OK);
}

static void end(void)
{
    tts_oppath_free(paths);
    tts_fold_free(fold);
}

static void take(struct tts_item item)
{
    item.event.name = item.op.name;
    item.event.name_len = item.op.name_len;
    uint64_t hash = tts_oppath_event(paths, fold, &item);
    T_EQ(tts_fold_event(fold, &item.event, hash), TTS_FOLD_COUNTED);
}

static void open_op(uint32_t thread, const char *name)
{
    take(item_op(&items, thread, name));
}

static void close_op(uint32_t thread)
{
    take(item_op(&items, thread, NULL));
}

/* Returns the path of a buffer that the operation `op` allocates now. */
static const char *path_of(const char *op, size_t size)
{
    static char out[256];
    struct tts_live live[64];
    struct tts_item item = item_alloc(&items, 0, TTS_POOL_DRAM, items.seq + 1, 64);
    item_set_op(&item, op);
    take(item);
    size_t count = tts_fold_collect(fold, live, 64);
    tts_fold_sort(live, count);
    size_t len = tts_oppath_text(paths, live[count - 1].op, out, size);
    T_EQ(len, strlen(out));
    return out;
}

T_TEST(a_helper_is_one_in_any_namespace)
{
    static const char *const helpers[] = {
        "create_device_tensor", "tt::tt_metal::create_device_tensor",
        "ttnn::create_device_tensor", "ttnn.allocate_tensor_on_device", "Device Operation"};
    static const char *const others[] = {"",
                                         "Tensor::to_device",
                                         "recreate_device_tensor",
                                         "create_device_tensors",
                                         "ttnn::prim::binary",
                                         "Tensor::deallocate"};
    for (size_t i = 0; i < sizeof helpers / sizeof helpers[0]; i++)
        T_TRUE(tts_op_is_helper(helpers[i], strlen(helpers[i])));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        T_TRUE(!tts_op_is_helper(others[i], strlen(others[i])));
}

T_TEST(a_path_has_the_operations_around_and_no_helpers)
{
    begin();
    open_op(1, "ttnn::add");
    T_STR_EQ(path_of("ttnn::add", 256), "ttnn::add");
    open_op(1, "ttnn::prim::binary");
    open_op(1, "Device Operation");
    open_op(1, "create_device_tensor");
    T_STR_EQ(path_of("ttnn::prim::binary", 256), "ttnn::add > ttnn::prim::binary");
    T_STR_EQ(path_of("create_device_tensor", 256), "ttnn::add > ttnn::prim::binary");
    /* If there is little room, only the end of the path is returned. */
    T_STR_EQ(path_of("ttnn::prim::binary", 13), "prim::binary");
    close_op(1);
    close_op(1);
    close_op(1);
    T_STR_EQ(path_of("ttnn::add", 256), "ttnn::add");
    close_op(1);
    /* The beginning of this operation was not seen. */
    T_STR_EQ(path_of("ttnn::prim::binary", 256), "ttnn::prim::binary");
    open_op(1, "create_device_tensor");
    T_STR_EQ(path_of("create_device_tensor", 256), "create_device_tensor");
    open_op(1, "fill");
    T_STR_EQ(path_of("fill", 256), "fill");
    end();
}

T_TEST(each_thread_has_its_own)
{
    begin();
    open_op(1, "a");
    open_op(2, "b");
    open_op(1, "x");
    open_op(2, "y");
    T_STR_EQ(path_of("x", 256), "a > x");
    T_STR_EQ(path_of("y", 256), "b > y");
    close_op(2);
    close_op(2);
    close_op(2); /* the beginning of the operation that ends here was not seen */
    T_STR_EQ(path_of("x", 256), "a > x");
    end();
}

T_TEST(what_there_is_no_room_for_has_its_name_alone)
{
    begin();
    char name[16];
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "op%d", i);
        open_op(1, name);
    }
    T_STR_EQ(path_of("op3", 256), "op3"); /* op3 is not the innermost operation */
    T_STR_EQ(path_of("op5", 256), "(other)");
    for (int i = 0; i < 2 * TTS_OPPATH_DEPTH; i++)
        open_op(1, "deep");
    for (int i = 0; i < 2 * TTS_OPPATH_DEPTH; i++)
        close_op(1);
    for (int i = 0; i < 4; i++)
        close_op(1);
    T_STR_EQ(path_of("op1", 256), "op0 > op1");
    end();
}

T_TEST(an_operation_whose_end_is_missing_is_not_around_later_ones)
{
    begin();
    open_op(1, "ttnn::add");
    /* The events that are missing may include the end of the operation. */
    tts_oppath_forget(paths);
    open_op(1, "ttnn::mul");
    T_TRUE(strcmp(path_of("ttnn::mul", 256), "ttnn::mul") == 0);
    close_op(1);
    end();
}
