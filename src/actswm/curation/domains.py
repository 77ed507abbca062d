"""What the pipeline must know about each game: its keys, what to ask a judge, and words that betray a menu."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..controls import KEYS14, Vocabulary
from ..errors import UserError
from ..formats.keymap import MINECRAFT_KEYS, SHOOTER_KEYS, KeyMap
from ..formats.video import NS


@dataclass(frozen=True)
class Domain:
    """One game."""

    name: str
    title: str
    key_maps: tuple[KeyMap, ...]
    not_gameplay: str
    """For the judge's prompt: what does not count as gameplay here."""
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Label -> phrases that appear on screen only outside gameplay."""
    still_ns: int | None = None
    """A picture that does not change for this long is not gameplay; None where players may rest."""

    def key_map(self, vocabulary: Vocabulary) -> KeyMap:
        for key_map in self.key_maps:
            if key_map.vocabulary == vocabulary:
                return key_map
        raise UserError(
            f"domain {self.name!r} has no key map for {vocabulary.name!r}; give one with --key-map"
        )

    @property
    def prompt(self) -> str:
        return (
            f"This is one frame of a screen recording of {self.title}. Decide whether it shows live first-person "
            f"gameplay under the player's control. Not gameplay: {self.not_gameplay}. Answer with JSON only: "
            '{"gameplay": true or false, "label": "gameplay|menu|loading|death|spectator|cutscene|other"}'
        )


_LOADING = ("loading", "connecting to", "retrieving game", "now loading", "please wait")
_APEX_KEYS = KeyMap(KEYS14, {**SHOOTER_KEYS.bindings, "Ctrl": ("LCtrl", "Ctrl", "RCtrl", "C")})
_MINECRAFT_KEYS14 = KeyMap(KEYS14, {k: v for k, v in SHOOTER_KEYS.bindings.items() if k != "Reload"})

DOMAINS = {
    domain.name: domain
    for domain in (
        Domain(
            "cs2",
            "Counter-Strike 2",
            (SHOOTER_KEYS,),
            "main menu, buy menu, scoreboard, settings, loading or connecting screens, the player's death, "
            "spectating another player, free camera, replays",
            {
                "menu": (
                    "main menu",
                    "resume game",
                    "settings",
                    "inventory",
                    "buy menu",
                    "deathmatch bonus weapon",
                ),
                "loading": _LOADING,
                "death": ("killed by", "you were killed", "you died", "respawning in"),
                "spectator": ("spectating", "spectators only", "free camera", "instant replay"),
            },
            60 * NS,
        ),
        Domain(
            "gta5",
            "Grand Theft Auto V",
            (SHOOTER_KEYS,),
            "pause menu, map, phone full-screen apps, settings, loading screens, WASTED or BUSTED screens, cutscenes, "
            "character switch",
            {
                "death": ("wasted", "busted"),
                "menu": (
                    "pause menu",
                    "settings",
                    "rockstar editor",
                    "grand theft auto online",
                    "skip cutscene",
                ),
                "loading": _LOADING,
            },
            10 * NS,
        ),
        Domain(
            "apex",
            "Apex Legends",
            (_APEX_KEYS,),
            "lobby, legend selection, inventory or map, settings, loading screens, death boxes after elimination, "
            "spectating, match summary",
            {
                "menu": ("select your legend", "loadout", "lobby", "settings", "battle pass", "ready up"),
                "death": ("you have been eliminated", "squad eliminated", "eliminated by", "death recap"),
                "spectator": ("spectating", "now spectating"),
                "loading": _LOADING,
            },
        ),
        Domain(
            "minecraft",
            "Minecraft",
            (_MINECRAFT_KEYS14, MINECRAFT_KEYS),
            "title screen, game menu, options, inventory or crafting windows, chat full screen, loading terrain, "
            "the death screen",
            {
                "menu": (
                    "game menu",
                    "back to game",
                    "options...",
                    "crafting",
                    "singleplayer",
                    "save and quit",
                ),
                "death": ("you died", "you died!", "respawn"),
                "loading": ("loading terrain", "generating", "building terrain", *_LOADING),
            },
        ),
        Domain(
            "games",
            "a first-person game of this project",
            (SHOOTER_KEYS, MINECRAFT_KEYS),
            "menus, loading screens, text consoles",
            {
                "menu": ("main menu", "options", "quit game", "resume game", "exit game"),
                "loading": ("loading",),
            },
        ),
    )
}


def domain_of(name: str) -> Domain:
    if name not in DOMAINS:
        raise UserError(f"unknown domain {name!r}; known: {', '.join(DOMAINS)}")
    return DOMAINS[name]
