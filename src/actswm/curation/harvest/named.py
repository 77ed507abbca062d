"""What the user named: search words, URLs, files of URLs, local files and folders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote_plus, urlsplit

from ...errors import UserError
from ...json_files import read_json
from .video import Video, from_info, id_of

SUFFIXES = {".mp4", ".mkv", ".webm", ".mov", ".avi", ".flv", ".ts", ".m4v", ".mpg", ".mpeg", ".wmv", ".media"}


@dataclass(frozen=True)
class Named:
    """`search` is a search of yt-dlp (`ytsearch`) or a URL with `{words}` in it, of a site whose result is a feed."""

    keywords: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()
    """Files with one URL a line; `#` begins a comment."""
    local: tuple[str, ...] = ()
    search: str = "ytsearch"
    most: int = 50
    """Videos of one search, channel, list or feed."""

    def web(self) -> list[str]:
        """Every URL and search, in the order named."""
        asked = [self._search(words) for words in self.keywords] + list(self.urls)
        for file in self.seeds:
            asked += _lines(Path(file))
        for url in asked:
            scheme = urlsplit(url).scheme
            if "://" in url and scheme not in ("http", "https"):
                raise UserError(f"{url}: only http and https are fetched; give a local file with --local")
        return list(dict.fromkeys(asked))

    def _search(self, words: str) -> str:
        if "{words}" in self.search:
            return self.search.replace("{words}", quote_plus(words))
        if "://" in self.search or not self.search.isalnum():
            raise UserError(
                f"--search {self.search!r} must be a search of yt-dlp or a URL with {{words}} in it"
            )
        return f"{self.search}{self.most}:{words}"

    def files(self) -> Iterator[Video]:
        for text in self.local:
            path = Path(text)
            if not path.exists():
                raise UserError(f"{path}: no such file or folder")
            found = sorted(path.rglob("*")) if path.is_dir() else [path]
            for file in found:
                if file.is_file() and (not path.is_dir() or file.suffix.lower() in SUFFIXES):
                    yield _local(file.resolve(), text)


def _local(file: Path, found_by: str) -> Video:
    """yt-dlp's own description beside a file (`--write-info-json`) tells where it came from."""
    told = file.with_suffix(".info.json")
    if told.is_file():
        try:
            info = read_json(told)
        except ValueError:
            raise UserError(f"{told}: is not JSON; remove it or write it again") from None
        return from_info(info, found_by, id=id_of(str(file)), path=str(file))
    return Video(id_of(str(file)), path=str(file), title=file.name, found_by=found_by)


def _lines(file: Path) -> list[str]:
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: cannot be read as a list of URLs ({error})") from None
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]
