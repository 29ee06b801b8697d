"""`tfr cache`: what is kept of remote files, and removing it."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated

import typer

from tfrkit.cli import arguments as arg
from tfrkit.cli.console import number_of, out, out_json, plain, table
from tfrkit.cli.options import command
from tfrkit.cli.progress import size_text, time_text

app = typer.Typer(rich_markup_mode=None, add_completion=False, invoke_without_command=True)


@app.callback()
@command("cache")
def _cache(ctx: typer.Context, options: arg.JsonOptions) -> None:
    """Show what is kept of remote files, or remove it.

    Readers with cache=True keep what they read. TFRKIT_CACHE names the folder, TFRKIT_CACHE_BYTES its limit: what was
    not used for longest is removed first.

    Example: tfr cache
    """
    if ctx.invoked_subcommand is not None:
        return
    from tfrkit.stores.cache.contents import cached_urls, other_files
    from tfrkit.stores.cache.folder import cache_folder, cache_limit

    urls = cached_urls()
    total, count = sum(each.bytes for each in urls), sum(each.files for each in urls)
    rest = {
        name: {"files": len(kept), "bytes": sum(each.size for each in kept)}
        for name, kept in other_files().items()
    }
    if options.as_json:
        about = {"folder": cache_folder(), "limit": cache_limit(), "bytes": total, "files": count}
        listed = [{name: value for name, value in asdict(each).items() if name != "folder"} for each in urls]
        out_json({**about, "urls": listed, "others": rest})
        return
    now = time.time()
    if urls:
        rows = [
            (
                size_text(each.bytes),
                size_text(each.file_bytes),
                _ago(now - each.used),
                plain(each.name) or "?",
            )
            for each in urls
        ]
        table(["kept", "of", "used", "file"], rows, numbers=[0, 1, 2])
    kept = f"{size_text(total)} of {size_text(cache_limit())} in {number_of(count, 'file')}"
    out(f"{plain(cache_folder())}: {kept}")
    for name, found in rest.items():
        out(f"{plain(name)}: {size_text(found['bytes'])} in {number_of(found['files'], 'file')}")


def _ago(seconds: float) -> str:
    return f"{time_text(max(0.0, seconds))} ago" if seconds < 86_400 else f"{seconds / 86_400:.0f} days ago"


@app.command("clear")
@command("cache clear")
def clear(
    prefix: Annotated[
        str, arg.positional("URL", "Only files whose URLs begin with this, such as s3://bucket/train.")
    ] = "",
    *,
    options: arg.JsonOptions,
) -> None:
    """Remove what is kept of remote files.

    Programs that are reading go on, and fetch what they need.

    Example: tfr cache clear s3://bucket/
    """
    from tfrkit.stores.cache.contents import clear_cache

    files, size = clear_cache(prefix)
    if options.as_json:
        out_json({"files": files, "bytes": size})
    else:
        out(f"removed {number_of(files, 'file')}, {size_text(size)}")
