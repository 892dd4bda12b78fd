"""What programs say about their conditions, whatever their log format: device, data set, batch, hyper-parameters.

Reads no metric. A value is taken only where it can be what the key says: a device must name one, a batch is a number.
"""

from __future__ import annotations

import re

from npueval import hardware
from npueval.logs.base import Format, Journal

_KEYS = {
    "device": "device",
    "gpuname": "device",
    "gpumodel": "device",
    "hardware": "device",
    "硬件": "device",
    "设备": "device",
    "framework": "framework",
    "pytorch": "framework",
    "torch": "framework",
    "torchversion": "framework",
    "dataset": "dataset",
    "datasetname": "dataset",
    "datasetdir": "dataset",
    "datapath": "dataset",
    "datadir": "dataset",
    "traindatadir": "dataset",
    "testdatadir": "dataset",
    "数据集": "dataset",
    "split": "split",
    "数据划分": "split",
    "batchsize": "batch",
    "trainbatchsize": "batch",
    "inferbatchsize": "batch",
    "globalbatchsize": "batch",
    "samplespergpu": "batch",
    "perdevicetrainbatchsize": "batch",
    "lr": "learning_rate",
    "lr0": "learning_rate",
    "baselr": "learning_rate",
    "learningrate": "learning_rate",
    "学习率": "learning_rate",
    "epochs": "epochs",
    "maxepochs": "epochs",
    "numepochs": "epochs",
    "numtrainepochs": "epochs",
    "epochnum": "epochs",
    "optimizer": "optimizer",
    "precision": "precision",
    "dtype": "precision",
    "seed": "seed",
    "date": "date",
    "model": "model",
    "arch": "model",
    "modelnameorpath": "model",
    "worldsize": "cards",
    "ngpus": "cards",
    "numgpus": "cards",
    "nprocpernode": "cards",
}
_NUMBERS = frozenset({"batch", "learning_rate", "epochs", "seed", "cards"})
_WHOLE = re.compile(r"[#\s>*-]{0,8}([A-Za-z\u4e00-\u9fff][\w -]{0,29}?)\s?[:=：]\s?(\S.{0,300})$")
_PAIR = re.compile(r"(?<![\w.])(?:--)?([A-Za-z][\w-]{1,30})(?:=|: ?|\s?=\s?)'?([^\s,;'\"(){}\[\]|]{1,200})")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_CARDS = re.compile(r"\b(\d+)\s?(?:cards?|GPUs?|NPUs?)\b|(\d+) ?卡", re.IGNORECASE)
_DEVICE_LINE = re.compile(
    r"\bGPU \d+(?:,\d+)*: (.{3,80})|\bname: ([^:]{3,60}?)(?:,| major:)|Device \d+: \"?([^\",]{3,60})"
)
_PREFIX = re.compile(r"^.{0,60}?(?:INFO|DEBUG|WARNING)[\]:| -]{1,4}")


class Ambient(Format):
    name = "ambient"
    needles = (
        "device",
        "GPU",
        "name: ",
        "batch",
        "dataset",
        "data_dir",
        "lr",
        "earning",
        "epoch",
        "split",
        "world_size",
        "precision",
        "framework",
        "torch",
        "optimizer",
        "seed",
        "date:",
        "数据集",
        "学习率",
        "设备",
        "硬件",
    )
    samples = ("device: cpu (AMD EPYC), 1 card", "use_gpu: True, train_batch_size: 1024, epochs: 20")

    def read(self, text: str, journal: Journal) -> bool:
        for device in (part for found in _DEVICE_LINE.findall(text) for part in found if hardware.kind(part)):
            self._learn(journal, "device", device)
        whole = _WHOLE.match(_PREFIX.sub("", text, count=1))
        if whole and (key := _key(whole[1])) and ": " not in whole[2]:
            self._learn(journal, key, whole[2])
            return False
        for name, value in _PAIR.findall(text):
            if name == "use_gpu":
                self._learn(journal, "device", "gpu" if value == "True" else "cpu")
            elif key := _key(name):
                self._learn(journal, key, value)
        return False

    def _learn(self, journal: Journal, key: str, value: str) -> None:
        value = value.strip().rstrip(",;")
        if key in _NUMBERS and not _NUMBER.fullmatch(value):
            return
        if key == "device":
            if hardware.is_architecture(value):
                key = "host_architecture"
            elif not (kind := hardware.kind(value)):
                return
            else:
                journal.fact("device_kind", kind)
            if cards := _CARDS.search(value):
                journal.fact("cards", cards[1] or cards[2])
        journal.fact(key, value)


def _key(name: str) -> str | None:
    return _KEYS.get(re.sub(r"[\s_-]", "", name).lower())
