"""What stands on an engine's hidden screen while it runs freely: its loading screens, before lockstep begins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Screen:
    """Reads pictures of the whole X screen `name`."""

    def __init__(self, name: str) -> None:
        from Xlib import display

        self._display = display.Display(name)
        self._root = self._display.screen().root

    def grab(self) -> NDArray[np.uint8]:
        from Xlib import X

        size = self._root.get_geometry()
        image = self._root.get_image(0, 0, size.width, size.height, X.ZPixmap, 0xFFFFFFFF)
        pixels = np.frombuffer(image.data, np.uint8).reshape(size.height, size.width, 4)
        return np.ascontiguousarray(pixels[..., 2::-1])

    def close(self) -> None:
        self._display.close()
