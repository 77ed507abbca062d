"""`actswm bench harvest`: how fast a harvest is, and how right."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from ..json_files import write_json
from .bench import JSON
from .printing import say


def bench_harvest(
    seconds: float = typer.Option(20.0, min=4.0, help="Length of the 720p stream for the throughput."),
    rounds: int = typer.Option(3, min=1, help="Transcoding and harvests take turns this many times."),
    seeds: list[int] = typer.Option(
        [], help="Measure cuts, kept footage and duplicates on streams of these seeds."
    ),
    games: list[str] = typer.Option(
        ["minetest", "openarena", "freedoom"], help="--seeds: games whose streams are made."
    ),
    take: float = typer.Option(18.0, help="--seeds: seconds of play in a take."),
    work: Path = typer.Option(None, help="--seeds: folder for takes and streams (default: a temporary one)."),
    json_file: Path = JSON,
) -> None:
    """Harvesting over bare decoding and encoding, and memory over length; with --seeds, how right the filters are.

    Example: actswm bench harvest --json harvest.json
    """
    import tempfile

    from ..bench.harvest import bench_harvest as run
    from ..bench.streams.accuracy import measure_domain, measure_duplicates
    from ..origin import this_command

    def tell(what: str) -> None:
        say(what, err=True)

    figures: dict[str, object] = {"origin": asdict(this_command())}
    if seeds:
        with tempfile.TemporaryDirectory() as temporary:
            folder = work or Path(temporary)
            for game in games:
                found = measure_domain(game, seeds, take, folder, tell)
                say(
                    f"{game}: cut_recall {found.cut_recall:.3f} of {found.cuts}, false_cuts_per_hour "
                    f"{found.false_cuts_per_hour:.1f}, precision {found.precision:.3f}, recall {found.recall:.3f}, "
                    f"kept {found.kept_share:.2f} of {found.hours * 60:.1f} minutes"
                )
                tell(f"{game}: harvesting its streams again, as re-uploads")
                again = measure_duplicates(game, folder)
                say(
                    f"{game}: duplicates_found {again.found} of {again.clips}, originals taken for duplicates "
                    f"{again.wrong} of {again.originals}"
                )
                figures[game] = {**asdict(found), "reuploads": asdict(again)}
    else:
        result = run(seconds, rounds, progress=tell)
        for kind in ("negative", "positive"):
            ratio, cpu = (getattr(result, f"harvest_over_transcode_{kind}{end}") for end in ("", "_cpu"))
            kept = getattr(result, f"kept_share_{kind}")
            say(f"harvest_over_transcode_{kind} {ratio:.2f} ({cpu:.2f} in processor time; {kept:.0%} kept)")
        peaks = f"10 min {result.rss_long_mib:.0f}, 1 min {result.rss_short_mib:.0f}"
        say(f"rss_growth_mib {result.rss_growth_mib:.0f} ({peaks})")
        figures |= asdict(result)
    if json_file:
        write_json(json_file, figures)
