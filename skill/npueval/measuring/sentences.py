"""What a measurement says of itself, once in each language; ``{names}`` are filled with the figures that say so."""

from __future__ import annotations

from npueval.language import Text

# What the samples of a case tell.
FAILED = Text(
    "{failed} 次尝试失败，其中重试 {retried} 次；首个报错：{error}",
    "{failed} failed attempt(s), {retried} retried; first: {error}",
)
GROUPED = Text(
    "单次迭代不足计时底噪 {floor} ns 的 {factor} 倍，因此每个样本含 {group} 次迭代",
    "one sample covers {group} iterations, for one alone is under {factor} x the floor of {floor} ns",
)
COARSE = Text(
    "不足计时自身开销（{share} ns）的 {factor} 倍，数值偏粗：{names}",
    "within {factor} x the clock's own cost ({share} ns), so coarse: {names}",
)
EVENTS_APART = Text(
    "推理按主机时钟为 {host} ms，按设备事件为 {device} ms：小内核两侧的事件量到的是主机下发",
    "infer takes {host} ms by the host's clock and {device} ms by the device's events: "
    "around small kernels events show the host's dispatch",
)
HOST_BOUND = Text(
    "受主机限制：下发占设备时间的 {share}，瓶颈在下发而非算子",
    "host-bound: launching takes {share} of the device's time: dispatch is what limits it",
)
FAR_OUT_EARLY = Text(
    "新形状之后的迭代明显偏离（疑为编译）：第 {which} 次；中位数 {median} ms",
    "far out of line right after a new shape (compilation?): iteration {which}; median {median} ms",
)
FAR_OUT_LATE = Text(
    "有迭代明显偏离（停顿或重新编译）：第 {which} 次；中位数 {median} ms",
    "far out of line (a stall, or recompilation): iteration {which}; median {median} ms",
)
AND_MORE = Text("{which} 等，另有 {more} 次", "{which} and {more} more")
OUTLIERS = Text(
    "{n} 个样本中有 {outliers} 个离群（修正 z > {z}），均未剔除",
    "{outliers} of {n} samples lie far out (modified z > {z}); none was removed",
)
DRIFT = Text(
    "漂移：后三分之一样本比前三分之一 {change}",
    "drift: the last third of the samples takes {change} against the first third",
)
DEPENDENT = Text(
    "样本自相关：{n} 个样本只相当于 {worth} 个独立样本，区间按后者计算",
    "autocorrelated: {n} samples are worth {worth} independent ones; the intervals use that",
)
OVERLOAD = Text(
    "过载：请求到达快于处理，排队等待由 {first} ms 增至 {last} ms",
    "overload: requests come faster than they are served, the wait grows from {first} to {last} ms",
)
OUTSIDE = Text(
    "实际完成 {found} 个/s，而 batch × 并发 ÷ 延迟为 {implied} 个/s：有时间花在所测环节之外",
    "{found} items/s were finished, but batch x concurrency / latency is {implied}: "
    "time passes outside the measured segments",
)

# What was seen around the window.
WARM_UP = Text("预热", "warm-up")
IN_PLACE = Text(
    "工作负载就地改动了输入：后面的迭代用的不是首次的输入",
    "the workload changes its inputs in place: later iterations saw other inputs than the first",
)
WAITS = Text(
    "infer 自己等待设备（{told}）：下发无法领先于设备",
    "infer waits for the device by itself ({told}): its launches cannot run ahead of the device",
)
LEAK = Text(
    "{iterations} 次迭代后内存增长 {growth} MiB：工作负载有泄漏",
    "memory grew by {growth} MiB over {iterations} iterations: the workload leaks",
)
PRINTS = Text(
    "工作负载在计时窗口内打印了 {bytes} 字节，其耗时已计入",
    "the workload printed {bytes} bytes inside the window: the figures contain it",
)
NOT_DELIVERED = Text(
    "infer 输出的首维为 {leading}，batch 为 {batch}：吞吐按每次迭代 {batch} 个计",
    "the leading dimension of infer's output is {leading} and the batch is {batch}: "
    "the throughput counts {batch} items an iteration",
)
FELL_BACK = Text(
    "未在 NPU 上执行：{names} 回退到 CPU，其耗时与数据搬运已计入",
    "not on the NPU: {names} fell back to the CPU, whose time and transfers are in the figures",
)
SEEDS_ITSELF = Text(
    "工作负载自行把 {name} 的种子设为 {value}：计划的种子不起作用",
    "the workload seeds {name} with {value} itself: the plan's seed does not hold",
)
UNSTEADY_INPUTS = Text(
    "inputs({batch}, {seed}) 每次给出不同的输入：种子没有固定住它们",
    "inputs({batch}, {seed}) gives other inputs each time: the seed does not fix them",
)
RESUMED = Text(
    "分多个进程测完：曾经中断，后来继续",
    "measured in more than one process: it was broken off and went on later",
)
UNFINISHED = Text("{name} 未测完（{n} 个样本）：{error}", "{name} is incomplete ({n} samples): {error}")
UNSAMPLED = Text("采样中断：{reason}", "the sampling pass broke off: {reason}")
NO_POWER = Text("功耗与利用率未知：{why}", "power and utilisation are unknown: {why}")
SILENT = Text("设备不提供该读数", "the device does not tell it")
SIMULATED = Text("该卡为模拟", "the card is simulated")
NOT_SHOWN = Text("npu-smi 中找不到 {device} 对应的芯片", "npu-smi does not show which chip is {device}")
NO_NVML = Text("未安装 nvidia-ml-py", "nvidia-ml-py is not installed")
NO_UUID = Text(
    "该 torch 不提供卡的 UUID，无法确定是哪张卡", "this torch does not tell the card's UUID: which one it is is unknown"
)

# Several cards.
CARD = Text("卡 {card}", "card {card}")
UNEQUAL_COUNTS = Text(
    "各卡完成的样本数为 {told}；只对照前 {fewest} 个",
    "the cards finished {told} samples; only the first {fewest} are held together",
)
UNEQUAL_RATES = Text("各卡快慢不一：{told} 个/s", "the cards are not equally fast: {told} items/s")

# The outputs.
SHAPE_CHANGED = Text("输出的形状或类型在用例中途改变", "the output's shape or type changed during the case")
OTHER_SHAPE = Text(
    "有 {count} 个输出的形状与首个不同：{shape}", "{count} output(s) had another shape than the first: {shape}"
)
NOT_FINITE = Text("{when}输出含 {nan} 个 NaN、{inf} 个 Inf", "the {when} output holds {nan} NaN and {inf} Inf")
FIRST, LAST = Text("首个", "first"), Text("末个", "last")
UNCHECKED = Text("输出未校验：{reason}", "the outputs are unchecked: {reason}")
NO_CHECK_MADE = Text("校验未能执行：{what}", "the check could not be made: {what}")
NOT_A_MAPPING = Text(
    "check 返回 {result}，不是形如 {form} 的映射", "check returned {result}, not a mapping like {form}"
)
NOT_A_VERDICT = Text(
    "check 给出 passed: {passed}，既非真也非假", "check says passed: {passed}, which is neither true nor false"
)
NOTHING_SAID = Text(
    "check 既没有给出数值（value）也没有给出判定（passed）",
    "check gives neither a figure (value) nor a verdict (passed)",
)
CHECKED_NOT_FINITE = Text("被校验的输出含 {lost} 个 NaN 或 Inf", "the checked outputs hold {lost} NaN or Inf")
NO_NUMBER = Text("工作负载的 check 没有给出 {metric} 的数值", "the workload's check gives no number for {metric}")
CHECK_FAILED = Text("工作负载的 check 未通过：{reason}", "the workload's check failed: {reason}")
NO_CHECK = Text("工作负载没有 check", "the workload has no check")
NO_VERDICT = Text("check 只给出数值，没有判定", "check gives a figure and no verdict")

# A command that was timed from outside.
WHOLE_COMMAND = Text(
    "整条命令的墙钟时间：不与进程内测得的数字相比",
    "wall time of a whole command: it never compares with figures taken in the process",
)
RUN_FAILED = Text("第 {run} 次：{error}", "run {run}: {error}")
LEFT_RUNNING = Text(
    "命令结束后留下进程，每次之后都已终止：第 {runs} 次",
    "the command left processes running, which were ended after each run: {runs}",
)
