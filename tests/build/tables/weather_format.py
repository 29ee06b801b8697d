"""Weather reports, as an example of a format that tfrkit does not have: this file is all that it takes."""

from __future__ import annotations

from tfrkit.build.tables.format_table import InputFormat
from tfrkit.build.tables.line_format import BadLine, Cells, LineFormat


class WeatherFormat(LineFormat):
    """Lines of fixed width: ten characters of date, six of degrees, then the sky; `#` begins a comment."""

    def parse(self, line: bytes) -> Cells | BadLine | None:
        if line.startswith(b"#"):
            return None
        if len(line) < 16:
            return BadLine("line too short", f"expected at least 16 bytes but got {len(line)}")
        degrees = line[10:16].strip()
        sky = line[16:].strip().decode()
        return {"day": line[:10].decode(), "degrees": float(degrees) if degrees else None, "sky": sky}


WEATHER = InputFormat(
    name="weather",
    title="weather reports",
    suffixes=(".wx",),
    make=WeatherFormat,
    options=("max_field",),
    magic=(b"# weather",),
    compressed=True,
)
