"""Saved models on the Hugging Face hub, as `user/repo` or `user/repo@revision`: put there whole, fetched once."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from .errors import UserError

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}(@[\w./-]{1,200})?")
_EXTRA = "pip install 'actswm[hub]'"


def may_be_on_hub(name: str) -> bool:
    """A folder here that is called like the user keeps the name here: a mistyped run is not asked for elsewhere."""
    return bool(_NAME.fullmatch(name)) and not Path(name).parent.is_dir()


@lru_cache(maxsize=64)
def fetched(name: str, needed: tuple[str, ...], optional: tuple[str, ...]) -> Path:
    """The folder with a repository's files, which are looked for anew by each process and kept by huggingface_hub.

    Without a connection, those that were fetched before.
    """
    repository, _, revision = name.partition("@")
    try:
        from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
        from huggingface_hub.errors import (
            EntryNotFoundError,
            RepositoryNotFoundError,
            RevisionNotFoundError,
        )
    except ImportError:
        raise UserError(f"to look for {name} on the Hugging Face hub: {_EXTRA}") from None
    kept = False
    try:
        try:  # asked once: a download asks again and again where nobody answers, half a minute for a misspelt name
            get_hf_file_metadata(hf_hub_url(repository, needed[0], revision=revision or None))
        except (EntryNotFoundError, RepositoryNotFoundError, RevisionNotFoundError):
            raise
        except Exception:
            kept = True
        for file in needed:
            path = Path(hf_hub_download(repository, file, revision=revision or None, local_files_only=kept))
    except RepositoryNotFoundError:
        raise UserError(
            f"the Hugging Face hub has no {repository} (if it is private: hf auth login)"
        ) from None
    except RevisionNotFoundError:
        raise UserError(f"{repository} has no revision {revision!r} on the Hugging Face hub") from None
    except Exception as error:  # what libraries of the network raise
        if isinstance(error, EntryNotFoundError) and not isinstance(error, FileNotFoundError):
            raise UserError(
                f"{repository} has no {file} on the Hugging Face hub: it is no model of actswm"
            ) from None
        raise UserError(f"the Hugging Face hub cannot be reached ({type(error).__name__})") from None
    for file in optional:
        try:
            hf_hub_download(repository, file, revision=path.parent.name, local_files_only=kept)
        except Exception:  # it has none
            continue
    return path.parent


def put(folder: Path, repository: str, files: tuple[str, ...]) -> None:
    """Commit those of `files` that are in `folder`, all at once; the repository is made if there is none."""
    if not _NAME.fullmatch(repository) or "@" in repository:
        raise UserError(f"{repository!r} is no name on the Hugging Face hub; use user/repo")
    try:
        from huggingface_hub import CommitOperationAdd, HfApi
    except ImportError:
        raise UserError(f"to put a model on the Hugging Face hub: {_EXTRA}") from None
    there = [folder / name for name in files if (folder / name).is_file()]
    additions = [CommitOperationAdd(path.name, path) for path in there]
    try:
        api = HfApi()
        api.create_repo(repository, exist_ok=True)
        api.create_commit(repository, additions, commit_message="World model of actswm")
    except Exception as error:  # what libraries of the network raise
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"{repository}: could not be put on the Hugging Face hub ({reason}); is there a connection, and a token "
            "that may write (hf auth login)?"
        ) from None
