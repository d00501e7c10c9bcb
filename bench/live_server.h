/* live_server.h: the part `server` of bench_live: what a frame costs an allocation server. */
#pragma once

/* Starts `program` serve, a process that only receives, and the plain server (plain_server.h),
 * floods them with the same frames and prints the results: a name, a value and a unit in each
 * line. Ends the benchmark if a server does not start. */
void measure_live_server(const char *program);
