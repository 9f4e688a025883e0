#ifndef WAVESMITH_EMULATOR_H
#define WAVESMITH_EMULATOR_H
/* What HIP has no word for: which chip is emulated, in which order, with which checks, and what
 * the last kernels did. Exported by the HIP emulator library besides the hip* functions. C linkage;
 * nothing throws; returned texts are owned by the library and valid until the next call of the same
 * function on the same thread. Any thread. */

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WAVESMITH_EMULATOR_API __attribute__((visibility("default")))
#else
#define WAVESMITH_EMULATOR_API
#endif

/* Changes settings: "chip=MI325X,order=vmem-early,lds-late,seed=7". Keys: chip, target, order,
 * seed, checks, threads, coverage, model (on or off: the cycle model), mfma (float32 or
 * cdna3: how matrix instructions add up), replay (sample or all: of
 * the workgroups, by the model), trace (path of a file for Perfetto; turns the model on, empty ends
 * it), trace_mib (its bound), max_faults, max_instructions, streams (fifo or random), events (host
 * or model: what their times count), hazards (auto, error or warning; auto: warnings in kernels
 * without our note), devices (how many); a comma part without '=' continues the value before it.
 * Unnamed settings stay. The environment variable WAVESMITH_EMULATOR has the same form and is read
 * at the first HIP call. Returns 0, or a HIP error whose text wavesmithEmulatorLastError() gives. A
 * target cannot change while memory is allocated.
 */
WAVESMITH_EMULATOR_API int wavesmithEmulatorConfigure(const char *settings);
/* Of the next kernel that this thread launches only a sample of the workgroups will run, for its
 * modelled time: `weights` says how much work each of the grid's `count` workgroups has, in any
 * unit, x fastest; it is copied. What the other workgroups would have stored is missing. Takes
 * effect once, not in graphs, and needs model=on and replay=sample. Null or none takes it back. */
WAVESMITH_EMULATOR_API int wavesmithEmulatorSampleNext(const double *weights,
                                                       unsigned long long count);
/* Log settings instead of those of WAVESMITH_LOG, in its form. Returns 0, or a HIP error. */
WAVESMITH_EMULATOR_API int wavesmithEmulatorLog(const char *settings);
/* The settings in force, in the form above. */
WAVESMITH_EMULATOR_API const char *wavesmithEmulatorConfiguration(void);
/* The first fault since the last call of this function that returned one, or "". */
WAVESMITH_EMULATOR_API const char *wavesmithEmulatorLastFault(void);
/* Why the last failing HIP call of this thread failed, or "". */
WAVESMITH_EMULATOR_API const char *wavesmithEmulatorLastError(void);
/* JSON about all kernels that finished since the last reset: {"launches", "instructions",
 * "seconds", "checks": {name: faults or null when not run}, "faults": [{...}],
 * "warnings": [text], "kernels": [{"name", "launches", "instructions", "seconds", "lines"}],
 * "coverage": [{"kernel", "pc", "disassembly", "count"}], "modelled": {"chip", "cycles",
 * "microseconds", ...} or null, "trace": {"file", "events", "bytes", "complete", "problem"} or
 * null, "settings"}. "lines" ([{"pc", "executed", "cycles", "stalls": {reason: clocks}}], of the
 * longest launch's replay) is filled with coverage and the model on. Waits for nothing: synchronise
 * first. */
WAVESMITH_EMULATOR_API const char *wavesmithEmulatorLastReport(int reset);

#ifdef __cplusplus
}
#endif
#endif /* WAVESMITH_EMULATOR_H */
