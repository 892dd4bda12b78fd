"""The log formats we read, the most telling first; the last resort is tried only where nothing else fits."""

from __future__ import annotations

from npueval.logs.ais_bench import AisBench
from npueval.logs.ambient import Ambient
from npueval.logs.base import DocumentFormat, Format, LineFormat, ObjectFormat, RecordFormat
from npueval.logs.csv_log import CsvLog
from npueval.logs.deepspeed import DeepSpeed
from npueval.logs.detectron2 import Detectron2
from npueval.logs.dllogger import DLLogger
from npueval.logs.fairseq import Fairseq
from npueval.logs.gbdt import GradientBoosting
from npueval.logs.generic import Generic
from npueval.logs.hf_summary import HuggingFaceSummary
from npueval.logs.hf_trainer import HuggingFaceTrainer
from npueval.logs.keras import Keras
from npueval.logs.keyvalue_trainer import KeyValueTrainer
from npueval.logs.lightning import Lightning
from npueval.logs.llamafactory import LlamaFactory
from npueval.logs.megatron import Megatron
from npueval.logs.meters import Meters
from npueval.logs.mindspeed_json import MindSpeedJson
from npueval.logs.mindspore import MindSpore
from npueval.logs.mlperf import MLPerf
from npueval.logs.modelzoo import ModelZoo
from npueval.logs.mxnet import MXNet
from npueval.logs.openmmlab import OpenMMLab
from npueval.logs.openmmlab_json import OpenMMLabJson
from npueval.logs.paddle import Paddle
from npueval.logs.paddle_inference import PaddleInference
from npueval.logs.printed import Printed
from npueval.logs.steploop import StepLoop
from npueval.logs.table import Table
from npueval.logs.tensorboard import TensorBoard
from npueval.logs.timm import Timm
from npueval.logs.torchvision import Torchvision
from npueval.logs.trtexec import Trtexec
from npueval.logs.ultralytics import Ultralytics
from npueval.logs.verl import Verl
from npueval.logs.vllm_bench import VllmBench
from npueval.logs.wandb_summary import WandbSummary

MEMBERS: tuple[type[Format], ...] = (
    LlamaFactory,
    OpenMMLabJson,
    Detectron2,
    HuggingFaceTrainer,
    HuggingFaceSummary,
    MindSpeedJson,
    WandbSummary,
    Timm,
    Ultralytics,
    Lightning,
    Trtexec,
    AisBench,
    VllmBench,
    MLPerf,
    DLLogger,
    Megatron,
    DeepSpeed,
    Fairseq,
    Verl,
    OpenMMLab,
    Paddle,
    PaddleInference,
    MindSpore,
    ModelZoo,
    Torchvision,
    Meters,
    MXNet,
    GradientBoosting,
    KeyValueTrainer,
    Keras,
    StepLoop,
    CsvLog,
)
LAST_RESORT: tuple[type[Format], ...] = (Table, Generic)
PRINTED = Printed
"""For the output of a command that was just run, beside all others."""
AMBIENT = Ambient
EVENTS = TensorBoard
"""The one format that is no text."""

__all__ = [
    "AMBIENT",
    "EVENTS",
    "LAST_RESORT",
    "MEMBERS",
    "PRINTED",
    "DocumentFormat",
    "Format",
    "LineFormat",
    "ObjectFormat",
    "RecordFormat",
]
