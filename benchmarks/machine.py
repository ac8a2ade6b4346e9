"""What a result must say about the machine that it was measured on."""

import os
import platform
from datetime import datetime, timezone
from pathlib import Path


def record() -> dict[str, object]:
    """Return processor, cores, memory, system, Python, time and load averages."""
    return {
        "processor": _field("/proc/cpuinfo", "model name") or platform.processor(),
        "architecture": platform.machine(),
        "vector_extensions": _vector_extensions(),
        "cores": os.cpu_count(),
        "memory": _field("/proc/meminfo", "MemTotal"),
        "system": platform.platform(),
        "python": platform.python_version(),
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "load_averages": load_averages(),
    }


def load_averages() -> list[float]:
    """Return the load over 1, 5 and 15 minutes; nothing where the system does not tell."""
    return [round(x, 2) for x in os.getloadavg()] if hasattr(os, "getloadavg") else []


def _field(path: str, name: str) -> str:
    file = Path(path)
    if not file.exists():
        return ""
    lines = [line for line in file.read_text().splitlines() if line.startswith(name)]
    return lines[0].partition(":")[2].strip() if lines else ""


def _vector_extensions() -> list[str]:
    flags = _field("/proc/cpuinfo", "flags").split() + _field("/proc/cpuinfo", "Features").split()
    wanted = ("sse4_2", "avx2", "avx512bw", "avx512_vbmi2", "asimd", "sve2")
    return [flag for flag in wanted if flag in flags]
