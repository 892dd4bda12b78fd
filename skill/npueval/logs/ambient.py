"""What programs and their documents say about conditions, whatever the log format: device, data set, batch, rate …

Reads no metric. A value is taken only where it can be what the key says: a device must name a model, a batch is a
number. A flag of a command counts as a statement, save for the number of devices.

Traps: ``aarch64`` is a host, ``V100_`` in a file's name no card, ``cuda`` no GPU (a migrated script says so on an NPU
too); a launch command's process count is an intention, ``world_size`` in the log is what happened; in a document
(fences of code between headings) nothing holds beyond the next heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from npueval.logs import hardware
from npueval.logs.base import LineFormat
from npueval.logs.logbook import Logbook

_SPELLINGS = {
    "device": "device devicename cudadevicename usingdevice gpu gpuname gpumodel hardware "
    "gpu型号 显卡 显卡型号 硬件型号 硬件 设备",
    "framework": "framework pytorch torch torchversion paddle mindspore",
    "dataset": "dataset datasetname datasettype 数据集",
    "data_path": "datasetdir datasetpath datapath datadir traindatadir testdatadir data",
    "split": "split datasetsplit 数据划分",
    "batch": "batch batchsize trainbatchsize inferbatchsize globalbatchsize totalbatchsize totaltrainbatchsize "
    "samplespergpu perdevicetrainbatchsize",
    "learning_rate": "lr lr0 baselr learningrate 学习率",
    "epochs": "epochs maxepochs numepochs numtrainepochs epochnum",
    "optimizer": "optimizer",
    "precision": "precision dtype",
    "seed": "seed",
    "date": "date",
    "model": "model arch modelnameorpath pretrainedmodelnameorpath",
    "cards": "worldsize ngpus numgpus numberofgpus numdevices numberofdevices",
}
_KEYS = {spelling: key for key, spellings in _SPELLINGS.items() for spelling in spellings.split()}
_NUMBERS = frozenset({"batch", "learning_rate", "epochs", "seed", "cards"})
LONGEST = 2000
MOST_DULL = 1000
_EMPTY_PATHS = ("data", "dataset", "datasets", "train", "val", "test", "eval", "input", "inputs", "raw")

_PREFIX = re.compile(r"^.{0,60}?(?:INFO|DEBUG|WARNING)[\]:| -]{1,4}")
_WHOLE = re.compile(r"[#\s>*-]{0,8}([A-Za-z\u4e00-\u9fff][\w -]{0,29}?)\s?[:=：]\s?(\S.{0,300})$")
_FLAG = re.compile(r"(?<!\S)--([a-z][\w-]{1,30})[ =][\"']?([^\s,;'\"(){}\[\]|<$-][^\s,;'\"(){}\[\]|]{0,200})")
_HEADING = re.compile(r"#{2,6} [^#]+$")
_PAIR = re.compile(r"(?<![\w./-])([A-Za-z][\w-]{1,30}[\"']?)(?:: ?| ?= ?)[\"']?([^\s,;'\"(){}\[\]|]{1,200}\(?)")
_CALL = re.compile(r"\w+\(")
_ARGUMENT = re.compile(r"\s+\w+=[A-Za-z_]\w*,\s*$")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_DIGITS = re.compile(r"(?<![A-Za-z\d])\d[\d.eE+-]*")
_CARDS = re.compile(
    r"\b(\d{1,5}) ?(?:cards?|GPUs?|NPUs?)\b|(?<!\d)(\d{1,5}|单) ?张? ?(?:卡|显卡|GPU)|[（(](\d{1,5}) ?(?:pcs|[Pp])[)）]"
)
_OFFERED = re.compile(r"(?:found|detected|there are|total of|检测到|共有)\s*$", re.IGNORECASE)
_ON_OFFER = re.compile(r"\s{0,8}\(?s?\)?\s{0,8}(?:are |is )?(?:available|detected|found|visible|可用)", re.IGNORECASE)
_MAKERS = r"(?:NVIDIA|Tesla|GeForce|Quadro|Ascend)"
_TOTAL_BATCH = re.compile(r"\bTotal train batch size \([^)]{1,80}\) = (\d{1,9})\b")
_DEVICE_LINE = re.compile(
    r"\bGPU \d+(?:,\d+)*: (.{3,80})|\bname: ([^:]{3,60}?)(?:,| major:)|\bDevice \d+: \"?([^\",]{3,60})"
    r"|\b(?:cuda|CUDA|npu|NPU)(?::\d+)? ?\(([A-Z][^(),]{2,60})[,)]"
    rf"|\|\s+\d+\s+({_MAKERS}[^|]{{2,40}}?)\s+(?:On|Off|N/A)\s+\|"
    rf"|\b(?:GPU|[Dd]evice): ({_MAKERS} [^,;()|]{{2,40}})"
    rf"|\b(?:[Rr]unning on|[Uu]sing)(?: GPU:?| device:?)? ({_MAKERS}[^,;()]{{2,60}})"
)
_WARNINGS = (
    (
        re.compile(r"will fall ?back to run on the CPU|aicpu fallback"),
        "有算子回退到 CPU 执行，延迟里混有 CPU 时间",
        False,
    ),
    (re.compile(r"result is untrustworthy"), "框架提示结果不可信", False),
    (
        re.compile(r"Traceback \(most recent call last\)|\bEI\d{4}\b|error code is \d|out of memory"),
        "日志里有报错",
        True,
    ),
)
_TRANSFERRED = re.compile(r"torch\.cuda\.\* .{0,40}replaced with torch\.npu")
_BARE_DEVICE = re.compile(r"(?:gpu|cuda|npu|cpu)(?::\d+)?", re.IGNORECASE)
_SUBJECT = re.compile(r"\b(?:Training|Evaluating) (\S{2,60}) with (?:the )?(\S{2,60}) dataset")
_PROMPT = re.compile(r"(?:\(\w+\) ?)?[\w.-]+@[\w.-]+[:~][^$#]{0,100}[$#] \S")


class Ambient(LineFormat):
    name = "ambient"
    needles = (
        *("evice", "NVIDIA", "Tesla", "CUDA:", "Ascend", "GPU", "use_gpu", "name: ", "batch", "dataset", "data", "lr"),
        *("earning", "epochs", "Epochs", "world_size", "recision", "dtype", "framework", "orch", "optimizer", "seed"),
        *("date:", "model", "arch", "split", "fall", "untrustworthy", "Traceback", "EI0", "error code"),
        *("out of memory",),
        *("数据", "学习率", "设备", "硬件", "卡", "pcs", "P）", "p）", "@", "```", "## "),
    )
    samples = ("device: cpu (AMD EPYC), 1 card", "use_gpu: True, train_batch_size: 1024, epochs: 20")

    def __init__(self) -> None:
        super().__init__()
        self._dull: set[str] = set()
        self._is_document = False

    def read(self, text: str, book: Logbook) -> bool:
        """Whether there was anything to learn; lines that differ from a dull one in numbers alone are dull."""
        text = text[:LONGEST]
        self._is_document = self._is_document or text.lstrip().startswith("```")
        heading = _HEADING.match(text) is not None
        if heading and self._is_document:
            book.section()
        like = _DIGITS.sub("0", text)
        dull = like in self._dull or not self._learns(text, book)
        if dull and len(self._dull) < MOST_DULL:
            self._dull.add(like)
        return heading or not dull

    def _learns(self, text: str, book: Logbook) -> bool:
        subject, prompt, cards = _SUBJECT.search(text), _PROMPT.match(text), _used(text)
        if subject or prompt:
            book.section()
        if subject:
            book.fact("model", subject[1])
            book.fact("dataset", subject[2])
        elif cards:
            book.fact("cards", next(filter(None, cards.groups())).replace("单", "1"))
        warned, statements = self.warn(text, book), list(_statements(text))
        for key, value in statements:
            _learn(book, key, value.strip().rstrip(",;").strip("\"'"))
        return any((subject, prompt, cards, warned, statements))

    def warn(self, text: str, book: Logbook) -> bool:
        """Note what makes the run around this line doubtful, whichever rank said it; whether there is anything."""
        found = [(doubt, broken) for pattern, doubt, broken in _WARNINGS if pattern.search(text)]
        for doubt, broken in found:
            book.warn(doubt, broken=broken)
        transferred = _TRANSFERRED.search(text) is not None
        if transferred:
            book.fact("device_kind", "npu")
        return transferred or bool(found)


_BARE_CUDA = re.compile(r"cuda(?::\d+)?")
"""What code that was carried over by transfer_to_npu also prints; with a model's name behind it, it is a GPU."""


def _used(text: str) -> re.Match[str] | None:
    """How many cards a line says were used; those that were only found in the machine are not meant."""
    for found in _CARDS.finditer(text):
        if not _OFFERED.search(text[: found.start()]) and not _ON_OFFER.match(text, found.end()):
            return found
    return None


def _statements(text: str) -> Iterator[tuple[str, str]]:
    for found in _DEVICE_LINE.finditer(text):
        yield "device", next(filter(None, found.groups()))
    if total := _TOTAL_BATCH.search(text):
        yield "batch", total[1]
    whole = _WHOLE.match(_PREFIX.sub("", text, count=1))
    if whole and ": " not in whole[2] and not _PAIR.search(whole[2]):
        pairs = [(whole[1], whole[2])]
    else:
        # "Overriding: batch = 4" states nothing of what is overriding.
        pairs = _PAIR.findall(whole[2] if whole and _PAIR.match(whole[2]) else text)
    yield from ((key, value) for name, value in _FLAG.findall(text) if (key := _key(name)) not in (None, "cards"))
    for name, value in pairs:
        key = _key(name)
        if name == "use_gpu":
            yield "device", "gpu" if value == "True" else "cpu"
        elif key and not _is_no_statement(key, name, value, text):
            yield key, value


def _key(name: str) -> str | None:
    return _KEYS.get(re.sub(r"[\s_\"'-]", "", name).lower())


def _is_no_statement(key: str, name: str, value: str, text: str) -> bool:
    """A variable or a call in code; the scheduled learning rate in a record that is a dict."""
    scheduled = key == "learning_rate" and name.endswith(("'", '"'))
    return scheduled or _CALL.match(value) is not None or (key not in _NUMBERS and _ARGUMENT.match(text) is not None)


def _learn(book: Logbook, key: str, value: str) -> None:
    if key in _NUMBERS and not _NUMBER.fullmatch(value):
        return
    if key == "device":
        _device(book, value)
    elif key == "data_path":
        if _NUMBER.fullmatch(value):
            return
        path = value.replace("\\", "/").rstrip("/")
        name = path.rpartition("/")[2]
        book.fact("data_path" if name.lower() in _EMPTY_PATHS else "dataset", value if "/" in path or name else name)
    else:
        book.fact(key, value)


def _device(book: Logbook, value: str) -> None:
    """A name of a model is the device; ``cuda:0`` only its kind; ``aarch64`` the host's architecture."""
    if hardware.is_architecture(value):
        book.fact("host_architecture", value)
    elif (kind := hardware.kind(value)) and not _BARE_CUDA.fullmatch(value):
        book.fact("device_kind", kind)
        if not _BARE_DEVICE.fullmatch(value):
            book.fact("device", value)
