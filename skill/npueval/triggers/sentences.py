"""The sentences of the five parts. ``{names}`` are filled from the plan and the machine by ``fiveparts``."""

from __future__ import annotations

from npueval.language import Text

Sentence = tuple[Text, Text]
"""A label, and what stands beside it."""


def _sentence(label: tuple[str, str], zh: str, en: str) -> Sentence:
    return Text(*label), Text(zh, en)


SCOPE: tuple[Sentence, ...] = (
    _sentence(
        ("评测对象", "Measured"),
        "{project}（{workload}），设备 {device}，精度 {precision}（{mode}）",
        "{project} ({workload}) on {device}, {precision} ({mode})",
    ),
    _sentence(("包含环节", "Segments included"), "{included}", "{included}"),
    _sentence(
        ("不包含环节", "Left out"),
        "{excluded}模型加载、首次推理（编译）与预热，均单独记录",
        "{excluded}model load, first inference and warm-up, each kept apart",
    ),
    _sentence(("end_to_end 的含义", "Meaning of end_to_end"), "{end_to_end}", "{end_to_end}"),
    _sentence(("触发依据", "Triggered by"), "{triggered}", "{triggered}"),
)

SETUP: tuple[Sentence, ...] = (
    _sentence(("固定环境", "Fixed environment"), "{environment}", "{environment}"),
    _sentence(
        ("batch 列表", "Batches"),
        "{batches}（目标 batch {target}）{batches_reason}",
        "{batches} (target batch {target}){batches_reason}",
    ),
    _sentence(("并发/负载", "Load"), "{load}", "{load}"),
    _sentence(
        ("预热", "Warm-up"),
        "每个用例 {warmup} 次：触发算子编译与缓存、稳定频率；样本单独保留，不计入统计{warmup_reason}",
        "{warmup} a case: operators compile, caches fill, clocks settle; kept apart, never counted{warmup_reason}",
    ),
    _sentence(
        ("采样", "Samples"),
        "每个用例 {iterations} 次；统计 p50、p95、均值、最小、最大、标准差{iterations_reason}",
        "{iterations} iterations a case; p50, p95, mean, min, max, standard deviation{iterations_reason}",
    ),
    _sentence(
        ("计时方式", "Clock"),
        "每次迭代前后同步设备，主机时钟 perf_counter_ns；支持事件的设备同时记录事件对；"
        "吞吐窗口内不同步，结束时同步一次",
        "the device is synchronised before and after each iteration (perf_counter_ns), with event pairs beside it"
        " where the device has them; a throughput window is synchronised once, at its end",
    ),
    _sentence(
        ("执行顺序", "Order"),
        "先 NPU，后基线（优先引用项目完整训练日志，否则由用户按 Mig_Readme §2.6 在 GPU 上补采）；"
        "两侧口径对齐前不下结论",
        "the NPU first, then the baseline (the project's complete training log, else your GPU by Mig_Readme §2.6);"
        " no verdict before both sides are aligned",
    ),
    _sentence(("单用例时限", "Time limit a case"), "{timeout} s", "{timeout} s"),
)

METRICS: tuple[Sentence, ...] = (
    _sentence(
        ("延迟", "Latency"),
        "p50、p95 与均值，单位 ms；分位数取最近秩（第 ⌈p·n⌉ 小的实测值），附 95% 次序统计区间；"
        "p50 需 n≥6，p95 需 n≥72，不足写“样本不足”",
        "p50, p95 and mean in ms; percentiles by nearest rank (the ⌈p·n⌉-th smallest measured value) with a 95 %"
        " interval from order statistics; p50 needs n ≥ 6, p95 n ≥ 72",
    ),
    _sentence(
        ("吞吐", "Throughput"),
        "单位 {unit}；公式：完成的样本数 ÷ 计时窗口的墙钟时间；按 batch 计（每次迭代为一个 batch），"
        "单卡与全部卡分别给出",
        "in {unit}: items finished ÷ wall time of the window, counted by batch (one iteration is one batch),"
        " per card and in all",
    ),
    _sentence(
        ("缺失时的计算方法", "When a figure is missing"),
        "只有延迟：吞吐 ≈ batch × 并发 × 1000 ÷ 平均延迟(ms)，仅供核对、不入结论；"
        "只有总时间：平均延迟 = 总时间 ÷ 次数，不给 p50/p95；其余写 N/A 与原因",
        "latency only: throughput ≈ batch × concurrency × 1000 ÷ mean latency (ms), a cross-check and no result;"
        " a total only: mean = total ÷ count, and no percentile; else N/A with the reason",
    ),
    _sentence(
        ("显存/内存", "Memory"),
        "设备峰值 allocated、reserved 与设备级占用分三项列出，另列主机 RSS；读不到的写 N/A 与原因",
        "device peak allocated, peak reserved and device-level use as three figures, and the host's RSS; N/A with the"
        " reason where one cannot be read",
    ),
    _sentence(
        ("失败与重试", "Failures"),
        "失败的迭代保留报错并计数；含失败的用例单独标注",
        "failed iterations are kept with their error and counted; a case with failures is reported as such",
    ),
)

REPRODUCTION: tuple[Sentence, ...] = (
    _sentence(("数据集：短测", "Dataset: short test"), "{short_test}", "{short_test}"),
    _sentence(("数据集：冒烟", "Dataset: smoke test"), "{smoke}", "{smoke}"),
    _sentence(("数据集：Golden / 数值对齐", "Dataset: golden"), "{golden}", "{golden}"),
    _sentence(("数据集：全量精度/性能", "Dataset: full evaluation"), "{full}", "{full}"),
    _sentence(("数据集：训练", "Dataset: training"), "{training}", "{training}"),
    _sentence(("数据集：推理验收", "Dataset: acceptance"), "{inference}", "{inference}"),
    _sentence(
        ("随机种子", "Seed"), "{seed}（python、numpy、torch 与设备）", "{seed} (python, numpy, torch and the device)"
    ),
    _sentence(
        ("输入一致性", "Same inputs"),
        "shape、通道顺序与归一化由 {workload} 的 inputs 与 preprocess 固定，输入哈希写入 Run；"
        "基线侧使用同一 workload 与种子",
        "shape, layout and normalisation are fixed by inputs and preprocess of {workload}; their hash is in the Run;"
        " the baseline uses the same workload and seed",
    ),
    _sentence(
        ("输出校验", "Output check"),
        "计时之后在同一进程内调用 workload 的 check（指标或输出统计），并与 Golden 比对（{tolerance}）；"
        "输出错误的 Run 无效",
        "check of the workload, in the same process and after the timing, and the golden comparison ({tolerance});"
        " a Run with wrong outputs is invalid",
    ),
)

REPORT: tuple[Sentence, ...] = (
    _sentence(("测量口径", "Scope"), "{included}", "{included}"),
    _sentence(("batch", "Batch"), "{batches}（结论以 batch {target} 为准）", "{batches} (the verdict is for {target})"),
    _sentence(("基线来源", "Baseline"), "{baseline}", "{baseline}"),
    _sentence(
        ("结论", "Verdict"),
        "通过 / 不通过 / 有条件，两侧口径逐项核对后由对比得出；任一侧缺数据时写 N/A 与原因，不写“通过”",
        "passed, failed or conditional, from the comparison once both sides are aligned; N/A with the reason while"
        " either side is missing",
    ),
    _sentence(
        ("瓶颈定位", "Bottleneck"),
        "在预处理 / 后处理 / IO（h2d、d2h）/ 推理内核（含主机下发）中给出一至两项，并附支持该判断的分段耗时",
        "one or two of preprocessing, postprocessing, IO (h2d, d2h) and kernels (with host dispatch), each with the"
        " figure that says so",
    ),
    _sentence(
        ("原始记录", "Records"), "{runs}/<id>.json，profiling 结果与其同目录", "{runs}/<id>.json, profiles beside it"
    ),
    _sentence(
        ("落盘位置", "Written to"), "{documents}/working/Compare.md §2–§6", "{documents}/working/Compare.md §2–§6"
    ),
)

PARTS = (SCOPE, SETUP, METRICS, REPRODUCTION, REPORT)
