#include "runtime/session/Session.h"

#include <array>
#include <chrono>
#include <span>

#include <unistd.h>

#include "runtime/session/RunTensors.h"
#include "runtime/support/Hash.h"
#include "runtime/verify/Quantized.h"

namespace wavesmith {
namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Asked before anything is filled: the kernel would let us start and then end the process.
Status checkMemory(const CheckedProblem &c, std::uint64_t workspaceBytes, bool emulated) {
  std::uint64_t bytes = workspaceBytes;
  for (const TensorShape &shape : {c.q, c.k, c.v, c.out, c.lse})
    bytes += static_cast<std::uint64_t>(shape.extentBytes());
  if (emulated)
    bytes *= 2; // its device memory is the host's
  const long pages = ::sysconf(_SC_PHYS_PAGES), pageBytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || pageBytes <= 0)
    return Status::ok();
  const std::uint64_t memory =
      static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(pageBytes);
  if (bytes <= memory)
    return Status::ok();
  constexpr double kGigabyte = 1e9;
  return error(
      StatusCode::ResourceExhausted,
      "{} query and {} key tokens of {} heads need {:.1f} GB of host memory, the machine has "
      "{:.1f} GB; want fewer tokens or heads",
      c.totalQ, c.totalKv, c.problem.heads, static_cast<double>(bytes) / kGigabyte,
      static_cast<double>(memory) / kGigabyte);
}

AttentionTolerance toleranceOf(const RunRequest &request) {
  AttentionTolerance tolerance = AttentionTolerance::of(request.problem);
  // Where a few keys weigh everything, the rounding of a single weight is that of the sum.
  if (request.distribution != Distribution::Normal)
    tolerance.manyKeys.lseAbs = tolerance.fewKeys.lseAbs;
  return tolerance;
}

/// What is run for a request.
struct Planned {
  CheckedProblem inputs; ///< as the caller's tensors are
  std::optional<QuantizedPlan> quantized;
  AttentionPlan plain; ///< unless quantised

  const AttentionPlan &attention() const { return quantized ? quantized->attention : plain; }
  LaunchList list() const { return quantized ? launchList(*quantized) : launchList(plain); }
};

Expected<Planned> planRequest(const RunRequest &request, const DeviceInfo &device) {
  AttentionProblem problem = withPadding(request.problem, request.padding);
  const PlanOptions options{.splits = request.splits,
                            .device = deviceShape(device.target, device.computeUnits),
                            .sequences = std::nullopt};
  if (problem.dtype == DType::FP8 && !request.quantization &&
      request.distribution != Distribution::Normal)
    return error(StatusCode::InvalidArgument,
                 "{} inputs are made in 16 bits; fp8 takes them only when it quantises them",
                 distributionName(request.distribution));
  Planned planned;
  if (!request.quantization) {
    WAVESMITH_ASSIGN(planned.plain, planAttention(problem, options));
    planned.inputs = planned.plain.checked;
    return planned;
  }
  const Quantization &quantization = *request.quantization;
  if (quantization.keysInParts)
    return Status(StatusCode::Unsupported, "a run makes keys in one tensor");
  const Expected<DType> input = parseDType(quantization.input);
  if (!input || *input == DType::FP8)
    return error(StatusCode::Unsupported, "a run quantises bf16 or f16 inputs, not {}",
                 quantization.input);
  problem.f16Out = *input == DType::F16;
  WAVESMITH_ASSIGN(planned.quantized, planQuantized(problem, quantization, options));
  AttentionProblem inputs = problem;
  inputs.dtype = *input;
  inputs.f16Out = false; // by their type
  inputs.fp8.reset();
  inputs.sharedDescales = {};
  WAVESMITH_ASSIGN(planned.inputs, checkProblem(inputs));
  return planned;
}

/// A kernel that the caller brought.
Expected<ResolvedKernel> given(const HipTablePtr &table, const KernelSpec &spec,
                               const SharedCodeObject &object) {
  WAVESMITH_ASSIGN(LoadedKernel kernel, LoadedKernel::load(table, spec, object));
  return ResolvedKernel{std::make_shared<const LoadedKernel>(std::move(kernel)), "", 0, 0};
}

QuantizationReport describe(const QuantizedPlan &plan, const QuantizedInputs &codes) {
  QuantizationReport report;
  report.scales = scalesName(plan.quantization.scales);
  report.rotation = plan.quantization.rotationQ;
  for (std::size_t i = 0; i < codes.saturated.size(); ++i)
    report.tensors[i].saturated = codes.saturated[i];
  return report;
}

/// The quantisers' own work: attention is judged by what they made, so this has to be right too.
void judgeCodes(const QuantizedPlan &plan, DType dtype, const RunTensors &tensors,
                const QuantizedInputs &codes, RunReport &report) {
  const struct {
    const char *name;
    const HostTensor &input, &codes;
    const std::vector<float> &descales;
    std::uint32_t rotation;
  } rows[] = {{"q", tensors.q, codes.q, codes.descales.q, plan.quantization.rotationQ},
              {"k", tensors.k, codes.k, codes.descales.k, plan.quantization.rotationK},
              {"v", tensors.v, codes.v, codes.descales.v, 0}};
  if (plan.attention.list.units.empty())
    return;
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const CodeReport made =
        compareCodes(rows[i].input, dtype, rows[i].rotation, plan.attention.checked.fp8,
                     rows[i].codes, rows[i].descales);
    report.quantization->tensors[i].relRms = made.relRms;
    if (made.wrong > 0)
      report.failures.push_back(
          fmt::format("{}: {} of {} codes are not the nearest, first in row {} head {}",
                      rows[i].name, made.wrong, made.elements, made.first.row, made.first.head));
  }
}

} // namespace

AttentionProblem withPadding(AttentionProblem problem, std::int64_t padding) {
  const std::int64_t kvHeads = problem.kvHeads ? problem.kvHeads : problem.heads;
  const auto pad = [&](TensorStrides &strides, std::int64_t heads, std::int64_t dim) {
    if (!strides.head)
      strides.head = dim + padding;
    if (!strides.row)
      strides.row = heads * *strides.head + padding;
  };
  if (padding == 0)
    return problem;
  pad(problem.q, problem.heads, problem.headDimQk);
  pad(problem.k, kvHeads, problem.headDimQk);
  pad(problem.v, kvHeads, problem.headDimV);
  pad(problem.out, problem.heads, problem.headDimV);
  if (!problem.lseHeadStride) {
    problem.lseHeadStride = padding;
    for (const SequenceLength &length : problem.lengths)
      *problem.lseHeadStride += length.q;
  }
  return problem;
}

Expected<std::unique_ptr<Session>> Session::create(SessionOptions options) {
  WAVESMITH_ASSIGN(HipTablePtr table, HipTable::open(options.device));
  if (!options.store) {
    WAVESMITH_ASSIGN(options.store, KernelStoreOptions::fromEnvironment());
  }
  return std::make_unique<Session>(std::move(table),
                                   std::make_shared<KernelStore>(*std::move(options.store)));
}

Session::Session(HipTablePtr table, std::shared_ptr<KernelStore> store)
    : table_(std::move(table)), store_(std::move(store)) {}

Status Session::configureEmulator(const RunRequest &request) {
  if (!table_->isEmulator())
    return Status::ok();
  const std::string settings = fmt::format(
      "{},order={},checks={},seed={},model={},coverage={}{}",
      request.chip.empty() ? "target=" + request.problem.target : "chip=" + request.chip,
      request.order, request.checks, request.seed,
      request.modelCycles || request.sample ? "on" : "off", request.coverage ? 1 : 0,
      request.trace.empty() ? "" : ",trace=" + request.trace);
  if (table_->wavesmithEmulatorConfigure(settings.c_str()) != 0)
    return error(StatusCode::InvalidArgument, "emulator settings: {}",
                 table_->wavesmithEmulatorLastError());
  table_->wavesmithEmulatorLastReport(1);
  return Status::ok();
}

Expected<RunReport> Session::run(const RunRequest &request) {
  const auto tell = [&](std::string_view stage) {
    if (request.progress)
      request.progress(stage);
  };
  // A wrong request is said before wrong settings are; strides of inputs that are quantised are not
  // those of the call.
  AttentionProblem call = withPadding(request.problem, request.padding);
  if (request.quantization)
    call.q = call.k = call.v = {};
  WAVESMITH_TRY(checkProblem(call).status());
  if (request.sample && !table_->isEmulator())
    return Status(StatusCode::Unsupported, "a real device runs no samples: only the emulator does");
  if (request.sample && request.verify)
    return Status(StatusCode::InvalidArgument, "a run of samples has no result to verify");
  WAVESMITH_TRY(configureEmulator(request));
  WAVESMITH_ASSIGN(const DeviceInfo device, table_->queryDevice(table_->device().ordinal));
  WAVESMITH_ASSIGN(const Planned planned, planRequest(request, device));
  const AttentionPlan &plan = planned.attention();
  LaunchList list = planned.list();
  WAVESMITH_TRY(checkMemory(planned.inputs, list.workspaceBytes, table_->isEmulator()));

  RunReport report;
  report.target = plan.spec().target;
  report.device = device.name + (table_->isEmulator() ? " (emulated)" : "");
  report.workUnits = plan.work().size();
  report.partials = static_cast<std::uint64_t>(plan.list.slots);
  report.flops = plan.flops();
  report.tolerance = request.tolerance.value_or(toleranceOf(request));

  tell("compile");
  KernelLoader loader(table_, store_);
  WAVESMITH_ASSIGN(const LoadedLaunchList launches,
                   LoadedLaunchList::load(table_, std::move(list), [&](const KernelSpec &spec) {
                     return request.object && spec == plan.spec()
                                ? given(table_, spec, request.object)
                                : loader.get(spec);
                   }));
  for (const ResolvedKernel &kernel : launches.kernels()) {
    if (kernel.kernel->spec() == plan.spec())
      report.provider = kernel.provider;
    report.compileMs += kernel.compileMs;
    report.lookupMs += kernel.lookupMs;
    report.kernels.push_back({.info = kernel.kernel->info(),
                              .attention = !kernel.kernel->spec().isRowKernel(),
                              .key = kernel.kernel->spec().key(),
                              .provider = kernel.provider,
                              .compileMs = kernel.compileMs,
                              .lookupMs = kernel.lookupMs});
  }

  tell("upload");
  RunTensors tensors(planned.inputs, request.seed);
  applyDistribution(request.distribution, planned.inputs, request.seed, tensors.q, tensors.k,
                    tensors.v);
  if (request.inputs)
    request.inputs(tensors.q, tensors.k, tensors.v, tensors.descales);
  if (request.sinks && !tensors.sinks.empty())
    request.sinks(tensors.sinks);
  if (request.quantization && request.quantization->scales == Quantization::Scales::Given) {
    const Quantization &how = *request.quantization;
    const SharedDescales &shared = request.problem.sharedDescales;
    const DType input = planned.inputs.problem.dtype;
    const Fp8Format format = plan.checked.fp8;
    tensors.descales = {.q = descalesOf(tensors.q, input, how.rotationQ, shared.q, format),
                        .k = descalesOf(tensors.k, input, how.rotationK, shared.k, format),
                        .v = descalesOf(tensors.v, input, 0, shared.v, format)};
  }
  report.descales = tensors.descales;
  WAVESMITH_TRY(tensors.upload(table_, launches.list().workspaceBytes));
  WAVESMITH_ASSIGN(const Stream stream, Stream::create(table_));
  const AttentionBuffers buffers = tensors.addresses();
  WAVESMITH_TRY(launches.uploadWork(buffers.workspace, stream.get()));
  WAVESMITH_TRY(stream.synchronize());

  tell("run");
  const Clock::time_point start = Clock::now();
  LoadedLaunchList::BeforeStep sampleStep;
  if (request.sample)
    sampleStep = [&](const LaunchStep &step) {
      std::vector<double> weights; // of the other kernels' workgroups: all the same
      if (step.spec == plan.spec())
        for (const AttentionWorkUnit &unit : plan.work())
          weights.push_back(unit.kv1 - unit.kv0);
      table_->wavesmithEmulatorSampleNext(weights.data(), weights.size());
    };
  WAVESMITH_TRY(launches.launch(buffers, stream.get(), sampleStep));
  const Status finished = stream.synchronize();
  report.launchMs = millisecondsSince(start);
  // A fault is a result of the run; any other error is one of the environment.
  if (!finished.isOk() && finished.code() != StatusCode::EmulationFault)
    return finished;
  for (const std::string &name : checkNames())
    report.checks.push_back({name, std::nullopt});
  if (table_->isEmulator())
    WAVESMITH_TRY(readEmulatorReport(table_->wavesmithEmulatorLastReport(1), report));
  if (!finished.isOk()) {
    report.failures.push_back(finished.message());
    return report;
  }
  for (const CheckCount &check : report.checks)
    if (check.faults.value_or(0) > 0)
      report.failures.push_back(fmt::format("{} faults of check {}", *check.faults, check.name));
  std::optional<QuantizedInputs> codes;
  if (planned.quantized) {
    WAVESMITH_ASSIGN(codes,
                     readQuantized(*planned.quantized, tensors.workspace(), tensors.descales));
    report.descales = codes->descales;
    report.quantization = describe(*planned.quantized, *codes);
  }
  if (!request.verify)
    return report;

  tell("reference");
  const Clock::time_point referenceStart = Clock::now();
  const auto referenceOf = [&](const CheckedProblem &problem, const auto &from,
                               const Descales &descales) {
    return attentionReference(problem, from.q, from.k, from.v, descales, /*threads=*/0,
                              tensors.sinks);
  };
  const AttentionReference reference = codes ? referenceOf(plan.checked, *codes, codes->descales)
                                             : referenceOf(plan.checked, tensors, tensors.descales);
  std::optional<AttentionReference> unquantised;
  if (codes)
    unquantised = referenceOf(planned.inputs, tensors, {});
  report.referenceSeconds = millisecondsSince(referenceStart) / 1e3;
  tell("compare");
  WAVESMITH_TRY(tensors.download());
  const HostTensor *lseOut = plan.checked.problem.writeLse ? &tensors.lse : nullptr;
  report.errors = compareWithReference(plan.checked, reference, tensors.out, lseOut);
  if (codes) {
    report.quantization->errors =
        compareWithReference(planned.inputs, *unquantised, tensors.out, lseOut);
    judgeCodes(*planned.quantized, planned.inputs.problem.dtype, tensors, *codes, report);
  }
  const std::vector<std::byte> out = tensors.out.elements(), lse = tensors.lse.elements();
  const std::array<std::span<const std::byte>, 2> outputs{out, lse};
  report.outputDigest = sha256Hex(outputs);
  report.outDigest = sha256Hex(out);
  if (request.outputs)
    request.outputs(tensors.out, tensors.lse);
  std::vector<std::string> wrong = report.errors->failures(report.tolerance);
  for (auto [name, tensor] : {std::pair{"q", &tensors.q}, {"k", &tensors.k}, {"v", &tensors.v}})
    if (const auto damage = tensor->findDamage(name))
      wrong.push_back(*damage);
  report.failures.insert(report.failures.end(), wrong.begin(), wrong.end());
  return report;
}

} // namespace wavesmith
