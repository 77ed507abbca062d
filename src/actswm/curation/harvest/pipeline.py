"""Algorithm 2 over a folder: each stage does what is missing, alone or all of them in rounds until there is enough."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...errors import UserError
from ...executor import ExecutorKind, run_tasks
from ...processes import only_run
from .fetching import Fetcher, LeftOut
from .listing import clip_rows, settle_clips
from .packs import load_pack
from .plan import Plan, within
from .records import Folder, read_lines, write_lines
from .stages import Task, run_task, stage_key
from .trouble import Failure, Trouble, one_line
from .video import Video
from .web import Manners, Web

News = Callable[[str, int, int, float], None]
"""Hears stage, videos done, videos in all and seconds of video worked on."""
_ROUND = 8
"""Videos that go through all stages before the hours kept are counted."""


@dataclass(frozen=True)
class Ways:
    """How the work is done; the result does not depend on it."""

    manners: Manners = field(default_factory=Manners)
    archive: Path | None = None
    workers: int = 1
    executor: ExecutorKind = "processes"
    news: News = lambda stage, done, total, seconds: None


@dataclass
class Outcome:
    """`skipped` videos were left out on purpose, by reason: they are no failures."""

    failures: list[Failure] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    """Videos that a stage worked on in this run."""


class Harvest:
    def __init__(self, root: Path, plan: Plan, ways: Ways) -> None:
        self.folder, self.plan, self.ways = Folder(root), plan, ways
        self.outcome = Outcome()
        self._web: Web | None = None
        self._pack = load_pack(plan.settings.filter.pack).digest if plan.settings.filter.pack else ""

    def alone(self) -> AbstractContextManager[None]:
        """Two runs in one folder would fetch everything twice."""
        self.folder.make()
        return only_run(self.folder.work)

    # Stages

    def discover(self, refresh: bool = False) -> list[Video]:
        """Sites are asked once: a second run means the same videos. Folders are read anew."""
        asked, before = self.folder.record("discover", "asked"), self._listed()
        what = {"web": self.plan.named.web(), "most": self.plan.named.most}
        if asked == what and not refresh:
            found, failed = [video for video in before if not video.path], False
        else:
            found, failed = self._ask(before)
        videos: dict[str, Video] = {}
        for video in (*found, *self.plan.named.files()):
            videos.setdefault(video.id, video)
        write_lines(self._list_path, [video.to_json() for video in videos.values()])
        # What could not be asked is asked again next time.
        self.folder.keep("discover", "asked", {} if failed else what)
        return list(videos.values())

    def _ask(self, before: list[Video]) -> tuple[list[Video], bool]:
        """What the sites have, and whether one failed: then its videos from before stay."""
        web, found, failed = self.plan.named.web(), list[Video](), False
        for number, url in enumerate(web):
            try:
                found += self._client().find(url, self.plan.named.most)
            except Trouble as trouble:
                failed = True
                self._fail("discover", "", url, trouble)
                found += [video for video in before if video.found_by == url]
            self.ways.news("discover", number + 1, len(web), 0.0)
        return found, failed

    @property
    def _list_path(self) -> Path:
        return self.folder.work / "discover.jsonl"

    def _listed(self) -> list[Video]:
        if not self._list_path.exists():
            return []
        return [Video.from_json(row) for row in read_lines(self._list_path, "video")]

    def videos(self) -> list[Video]:
        if not self._list_path.exists():
            raise UserError(
                f"{self.folder.root}: nothing was discovered yet; begin with: actswm harvest discover"
            )
        return self._listed()

    def download(self, videos: Sequence[Video]) -> None:
        """One at a time. What is here already is not asked for again."""
        fetcher, most = Fetcher(self.folder, self.plan, self._client()), self.plan.budget.bytes
        fetched = sum((self.folder.record("download", video.id) or {}).get("bytes", 0) for video in videos)
        for number, video in enumerate(videos, 1):
            known = self.folder.record("download", video.id)
            if known is None or not Path(known["path"]).exists():
                try:
                    if not video.path and most is not None and fetched >= most:
                        raise LeftOut("budget")
                    with one_line(video.name):
                        record = fetcher.bring(video)
                        self.folder.keep("download", video.id, record)
                    self._did("download")
                    fetched += 0 if video.path else record["bytes"]
                except LeftOut as reason:
                    self.outcome.skipped[str(reason)] += 1
                except Trouble as trouble:
                    self._fail("download", video.id, video.name, trouble)
            self.ways.news("download", number, len(videos), video.duration or 0.0)
        self._list("download")

    def normalise(self, videos: Sequence[Video]) -> None:
        self._stage("normalise", "download", videos)

    def cut(self, videos: Sequence[Video]) -> None:
        self._stage("cut", "normalise", videos)

    def filter(self, videos: Sequence[Video]) -> None:
        self._stage("filter", "cut", videos)

    def export(self, videos: Sequence[Video]) -> None:
        """Duplicates and reviews are settled over all videos first; the list of clips is written last."""
        settled = settle_clips(self.folder, [video.id for video in self.videos()])
        self._stage("export", "filter", videos, settled)
        rows = clip_rows(self.folder, self.videos(), self.plan, settled)
        write_lines(self.folder.root / "clips.jsonl", rows)
        named = {row["clip"] for row in rows}
        ours = re.compile(r"[0-9a-f]{16}-\d{9}\.mp4")
        for path in self.folder.root.glob("*.mp4"):
            if ours.fullmatch(path.name) and path.name not in named:
                path.unlink()  # of other settings, or overruled

    def run(self) -> Outcome:
        """All stages. With hours asked for, in rounds until that much is kept."""
        videos = within(self.discover(), self.plan.budget)
        rounds = (
            [videos[i : i + _ROUND] for i in range(0, len(videos), _ROUND)]
            if self.plan.budget.hours
            else [videos]
        )
        for some in rounds:
            for stage in (self.download, self.normalise, self.cut, self.filter, self.export):
                stage(some)
            if self.plan.budget.hours and self.kept_hours() >= self.plan.budget.hours:
                break
        return self.outcome

    def kept_hours(self) -> float:
        settled = settle_clips(self.folder, [video.id for video in self.videos()])
        return (
            sum(clip.seconds for clips in settled.values() for clip in clips if clip.verdict == "kept") / 3600
        )

    # Inside

    def _client(self) -> Web:
        if self._web is None:
            self._web = Web(self.ways.manners, self.plan.named.web(), self.ways.archive)
        return self._web

    def _stage(
        self, stage: str, before: str, videos: Sequence[Video], settled: dict[str, list[Any]] | None = None
    ) -> None:
        tasks, seconds = [], {}
        for video in videos:
            done, fetched = self.folder.record(before, video.id), self.folder.record("download", video.id)
            if done is None or fetched is None:
                continue
            clips = tuple(clip for clip in (settled or {}).get(video.id, ()) if clip.verdict == "kept")
            basis = fetched["sha256"] if before == "download" else done["key"]
            key = stage_key(stage, basis, self.plan.settings, self._pack)
            if stage == "export":
                key = stage_key(
                    stage, key + repr([(c.start_pts, c.end_pts) for c in clips]), self.plan.settings
                )
            known = self.folder.record(stage, video.id)
            if known is not None and known["key"] == key and self._whole(stage, known):
                continue
            root = self.folder.root.resolve()
            tasks.append(
                Task(stage, video.id, video.name, root, key, self.plan.settings, Path(fetched["path"]), clips)
            )
            seconds[video.id] = done.get("seconds", video.duration) or 0.0
        finished = 0.0
        for number, (task, result) in enumerate(
            run_tasks(run_task, tasks, self.ways.workers, self.ways.executor), 1
        ):
            finished += seconds[task.id]
            if isinstance(result, Failure):
                self.outcome.failures.append(result)
                self.folder.record_path(stage, task.id).unlink(missing_ok=True)
            else:
                self._did(stage)
            self.ways.news(stage, number, len(tasks), finished)
        self._list(stage)

    def _whole(self, stage: str, record: dict[str, Any]) -> bool:
        """Are the files that a record speaks of still there?"""
        if stage == "export":
            return all((self.folder.root / clip["file"]).exists() for clip in record["clips"])
        if stage == "cut":
            files = (
                self.folder.work / "cut" / f"{record['id']}.npz",
                self.folder.samples / f"{record['id']}.zip",
            )
            return all(file.exists() for file in files)
        return True

    def _list(self, stage: str) -> None:
        self.folder.list_stage(stage, [video.id for video in self.videos()])

    def _did(self, stage: str) -> None:
        self.outcome.done[stage] += 1

    def _fail(self, stage: str, id: str, name: str, trouble: Trouble) -> None:
        self.outcome.failures.append(Failure(stage, id, name, trouble.reason, str(trouble)))
