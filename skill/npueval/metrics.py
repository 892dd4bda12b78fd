"""What a metric's name means: its kind and its direction. The value alone tells neither."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from npueval.records import Direction

Kind = Literal["loss", "score", "error", "latency", "throughput"]

DIRECTIONS: dict[Kind, Direction] = {
    "loss": "lower",
    "error": "lower",
    "latency": "lower",
    "score": "higher",
    "throughput": "higher",
}
_WORDS: dict[Kind, str] = {
    "error": "wer cer mer ppl perplexity mae mse rmse mape l1 l2 err error top1err logloss eer fid rtf",
    "score": "acc acc1 acc5 accuracy top1 top5 map map50 ap ap50 miou iou bleu rouge rougel f1 auc precision recall "
    "ndcg mrr hmean em dice psnr ssim mcc r2 score fwiou aacc",
    "throughput": "ips fps qps throughput tps",
    "latency": "latency ttft tpot itl e2el",
}
_MEANING: dict[str, Kind] = {word: found for found, words in _WORDS.items() for word in words.split()}
_CHINESE: dict[str, Kind] = {
    "准确率": "score",
    "精度": "score",
    "损失": "loss",
    "误差": "error",
    "延迟": "latency",
    "吞吐": "throughput",
}
_PARTS = re.compile(r"[A-Za-z]+\d*")
_PER_SECOND = re.compile(
    r"(?:samples?|images?|imgs?|tokens?|toks?|steps?|its?|iters?|queries|requests?|ins|seqs?)"
    r"(?:_per_second|_per_sec|/s(?:ec)?\b|persec)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def kind(name: str) -> Kind | None:
    """What a metric measures, by its name; ``None`` where the name does not say."""
    parts = [part.lower() for part in _PARTS.findall(name)]
    if _PER_SECOND.search(name):
        return "throughput"
    for part in parts:
        if part in _MEANING:
            return _MEANING[part]
    chinese = next((found for word, found in _CHINESE.items() if word in name), None)
    return "loss" if chinese is None and "loss" in name.lower() else chinese


def direction(name: str) -> Direction | None:
    """Which values of a metric are the better ones, by its name."""
    found = kind(name)
    return DIRECTIONS[found] if found else None


def is_held_out(name: str) -> bool:
    """Whether a name says that its metric was taken on data that was not trained on, wherever it says so."""
    if _NAMED_HELD_OUT.match(name) or any(word in name for word in _CHINESE_HELD_OUT):
        return True
    parts = {part.lower() for part in re.findall(r"[A-Za-z]+", name)}
    return bool(parts & _HELD_OUT_WORDS) and not parts & {"train", "training"}


def canonical(name: str) -> str:
    """One spelling for the names of a metric: ``val_acc@1``, ``eval/top1`` and ``accuracy_top-1`` are all ``top1``."""
    plain = re.sub(r"[^a-z0-9]", "", _HELD_OUT.sub("", name.lower()))
    return _SAME.get(plain, plain)


_HELD_OUT_WORDS = frozenset({"val", "valid", "validation", "eval", "evaluation", "test", "testing", "dev"})
_CHINESE_HELD_OUT = ("验证", "测试", "评估", "评测")
_NAMED_HELD_OUT = re.compile(r"(?:val|valid|validation|eval|test|dev)(?:[_/ .-]|[A-Z]|$)", re.IGNORECASE)
_HELD_OUT = re.compile(r"^(?:metrics?[/_ ])?(?:(?:val|valid|validation|eval|test|dev)[_/ .-]|(?=top))")
_SAME = {
    **dict.fromkeys(("acc1", "top1acc", "accuracytop1", "top1accuracy", "acctop1", "prec1"), "top1"),
    **dict.fromkeys(("acc5", "top5acc", "accuracytop5", "top5accuracy", "acctop5", "prec5"), "top5"),
    "acc": "accuracy",
    "map5095b": "map",
    "map05095": "map",
    "map05": "map50",
    "map5095": "map",
    "map50b": "map50",
}
