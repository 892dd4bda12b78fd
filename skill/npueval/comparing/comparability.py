"""Whether two measurements may be held against each other: their conditions, point by point."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace

from npueval.plan import Plan
from npueval.records import Agreement, Baseline, ComparisonPoint, Grade
from npueval.runs import Run
from npueval.runs.cases import END_TO_END, Case
from npueval.runs.conditions import InputFacts

TRANSFERS = frozenset({"h2d", "d2h"})
UNKNOWN = "未知"
_PROTOCOL = frozenset({"测量范围", "精度"})


def of_runs(npu: Run, npu_case: Case, other: Run, other_case: Case) -> tuple[ComparisonPoint, ...]:
    """The conditions of one case of two Runs."""
    return tuple(_of_runs(npu, npu_case, other, other_case))


def of_log(npu: Run, npu_case: Case, baseline: Baseline, plan: Plan) -> tuple[ComparisonPoint, ...]:
    """The conditions of a case against those that a log states; what the log does not say is unknown."""
    dataset = plan.datasets.inference or plan.datasets.full
    return (
        _point("测量范围", _scope(npu_case), baseline.fact("scope"), refuses=True),
        _point("同步方式", npu.protocol.synchronisation, None),
        _point("batch", _batch(npu_case), baseline.fact("batch"), refuses=True),
        _point("精度", npu.precision, stated_precision(baseline.fact("precision")), refuses=True),
        _point("模型", npu.workload.ref, None, refuses=True),
        _point("负载方式", _load(npu_case), None, refuses=True),
        _point("分位算法", npu.protocol.percentile, None),
        _point("卡数", str(npu.cards), baseline.fact("cards"), refuses=True),
        _point("输入形状", _shapes(_inputs(npu, npu_case.batch)), baseline.fact("shape")),
        _worded("数据集", dataset.name if dataset else None, baseline.fact("dataset")),
        _worded("数据集划分", dataset.subset if dataset else None, baseline.fact("split")),
    )


def of_accuracy(npu: Run, other: Run | Baseline) -> tuple[ComparisonPoint, ...]:
    """The conditions that may move an accuracy; that of a model of another size is no bound at all."""
    if isinstance(other, Run):
        return (
            _point("模型", *_models(npu, other), refuses=True),
            _point("精度", _mode(npu), _mode(other)),
            _point("卡数", str(npu.cards), str(other.cards)),
        )
    stated = stated_precision(other.fact("precision"))
    return _point("精度", npu.precision, stated), _point("卡数", str(npu.cards), other.fact("cards"))


def refusal(points: tuple[ComparisonPoint, ...], *, rate: bool, segment: str = END_TO_END) -> str:
    """The cell's words where a difference forbids a ratio; empty where none does.

    The number of cards forbids that of a ``rate`` only; one ``segment`` is comparable whatever else was measured.
    """
    unconcerned = {None if rate else "卡数", "测量范围" if segment != END_TO_END else None}
    differing = (p for p in points if p.refuses and p.agreement == "differs" and p.name not in unconcerned)
    against = [f"{p.name} {p.npu} 与 {p.other}" for p in differing]
    return "不可比：" + "；".join(against) if against else ""


def grade_of_runs(points: tuple[ComparisonPoint, ...]) -> Grade:
    """A where every condition is the same, B where raw samples stand under named differences."""
    return Grade.A if all(point.agreement == "same" for point in points) else Grade.B


def grade_of_log(baseline: Baseline, points: tuple[ComparisonPoint, ...]) -> Grade:
    """The log's own grade, lowered by what it does not say.

    Without the batch it is D, which carries no ratio; percentiles (B) of unknown scope or precision are worth no more
    than means (C).
    """
    if not baseline.fact("batch"):
        return Grade.D
    unknown = {point.name for point in points if point.agreement == "unknown"}
    return Grade.C if baseline.grade is Grade.B and unknown & _PROTOCOL else baseline.grade


def named(points: tuple[ComparisonPoint, ...]) -> str:
    """What a verdict must name: the conditions that differ, and those that nobody knows."""
    groups = (("差异", "differs"), ("未知", "unknown"))
    found = ((word, "、".join(p.name for p in points if p.agreement == which)) for word, which in groups)
    return "；".join(f"{word}：{names}" for word, names in found if names)


def _of_runs(npu: Run, npu_case: Case, other: Run, other_case: Case) -> Iterator[ComparisonPoint]:
    mine, theirs = npu.protocol, other.protocol
    cpu = "cpu" in (npu.device.kind, other.device.kind)
    yield _point("测量范围", _scope(npu_case, cpu), _scope(other_case, cpu), refuses=True)
    yield _point("测量方式", npu.scope, other.scope, refuses=True)
    yield _same_or_cpu("同步方式", mine.synchronisation, theirs.synchronisation, cpu)
    yield _point("batch", _batch(npu_case), _batch(other_case), refuses=True)
    yield _point("精度", _mode(npu), _mode(other), refuses=True)
    yield _point("模型", *_models(npu, other), refuses=True)
    yield _point("负载方式", _load(npu_case), _load(other_case), refuses=True)
    yield _point("卡数", str(npu_case.cards), str(other_case.cards), refuses=True)
    left, right = (_inputs(run, npu_case.batch) for run in (npu, other))
    yield _point("输入形状", _shapes(left), _shapes(right))
    yield _point("输入内容", _hash(left), _hash(right))
    yield _point("工作负载与预处理", npu.workload.sha256[:12], other.workload.sha256[:12])
    if npu.workload.needs or other.workload.needs:
        yield _point("权重与依赖文件", _digest(npu.workload.needs), _digest(other.workload.needs))
    yield _point("计划", npu.plan_sha256[:12] or None, other.plan_sha256[:12] or None)
    yield _point("随机种子", str(npu.seed), str(other.seed))
    yield _point("预热次数", str(mine.warmup), str(theirs.warmup))
    yield _point("采样次数", str(mine.iterations), str(theirs.iterations))
    yield _point("分位算法", mine.percentile, theirs.percentile)
    kit = other.environment.get("kit")
    if kit:
        yield _point("测试包核对", "一致", "一致" if kit.get("grade") == "A" else "；".join(kit.get("failed", ())))


def _point(name: str, npu: str | None, other: str | None, *, refuses: bool = False) -> ComparisonPoint:
    agreement: Agreement = "unknown" if not npu or not other else "same" if npu == other else "differs"
    return ComparisonPoint(name, npu or UNKNOWN, other or UNKNOWN, agreement, refuses)


def _worded(name: str, npu: str | None, other: str | None) -> ComparisonPoint:
    """Two people's words: the same where one holds the other (``sklearn digits``), else who knows (``val``, 验证集)."""
    point = _point(name, npu, other)
    if point.agreement == "unknown":
        return point
    short, long = sorted((point.npu.casefold(), point.other.casefold()), key=len)
    return replace(point, agreement="same" if short in long else "unknown")


def _digest(needs: Mapping[str, str]) -> str | None:
    return hashlib.sha256(repr(sorted(needs.items())).encode("utf-8")).hexdigest()[:12] if needs else None


def _same_or_cpu(name: str, npu: str, other: str, cpu: bool) -> ComparisonPoint:
    """On the CPU a call returns finished: waiting for it would change nothing."""
    return ComparisonPoint(name, npu, other, "same") if cpu else _point(name, npu, other, refuses=True)


def _scope(case: Case, without_transfers: bool = False) -> str:
    """The measured segments; against a CPU without the transfers, which do not exist there."""
    return "+".join(name for name in case.samples if not (without_transfers and name in TRANSFERS))


def _mode(run: Run) -> str:
    return f"{run.precision}/{run.protocol.precision_mode}"


def _models(npu: Run, other: Run) -> tuple[str | None, str | None]:
    """Parameter counts where both are known; else the workload file, whose change alone proves no other model."""
    counts = npu.workload.parameters, other.workload.parameters
    if None not in counts:
        return f"{counts[0]} 个参数", f"{counts[1]} 个参数"
    if npu.workload.sha256 == other.workload.sha256:
        return npu.workload.sha256[:12], other.workload.sha256[:12]
    return None, None


def _load(case: Case) -> str:
    if case.load == "open":
        return f"开环 {case.rate:g} 请求/s"
    return "顺序单请求" if case.concurrency == 1 else f"闭环并发 {case.concurrency}"


def _batch(case: Case) -> str | None:
    return None if case.batch is None else str(case.batch)


def _inputs(run: Run, batch: int | None) -> InputFacts | None:
    return next((facts for facts in run.inputs if facts.batch == batch), None)


def _hash(facts: InputFacts | None) -> str | None:
    return facts.sha256[:12] if facts else None


def _shapes(facts: InputFacts | None) -> str | None:
    return "；".join(f"{list(array.shape)} {array.dtype}" for array in facts.arrays) if facts else None


def stated_precision(stated: str | None) -> str | None:
    """A log's word for a precision, in the plan's spelling; ``None`` where it is none of them."""
    names = {"float32": "fp32", "float16": "fp16", "half": "fp16", "bfloat16": "bf16", "tf32": "tf32"}
    word = (stated or "").lower().removeprefix("torch.")
    word = names.get(word, word)
    return word if word in {"fp32", "fp16", "bf16", "int8", "tf32"} else None
