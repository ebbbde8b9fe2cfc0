"""Neo4j Browser in a headless Chromium: connected, given statements, read as a person sees it.

Belongs here: driving it. Must not: expectations.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

WAIT = 60
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1500,1250",
)  # fmt: skip
# A file reaches the page as it does when a person drops it on the window.
_DROP = """
const [name, bytes] = arguments, data = new DataTransfer();
data.items.add(new File([Uint8Array.from(atob(bytes), c => c.charCodeAt(0))], name));
document.querySelector('.filedrop').dispatchEvent(
  new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer: data}));
"""


class Browser:
    """Hold one window of Neo4j Browser."""

    def __init__(self, driver: Chrome) -> None:
        self._driver = driver

    def open(self, link: str, password: str) -> None:
        """Open a link, connect with the password; the link's statement is in the editor."""
        self._driver.get(link)
        self._one("input[data-testid=password]").send_keys(password)
        self._one("button[data-testid=connect]").click()
        self.until(lambda: not self.all("input[data-testid=password]"))
        self.until(lambda: self.all("[data-testid=frame]"))

    def run(self, statement: str | None = None) -> None:
        """Run what is in the editor, or a statement put there."""
        before = len(self.all("[data-testid=frame]"))
        if statement is not None:
            self._one("[data-testid=editor-discard]").click()
            # In an editor of one line, Enter runs.
            lines = [line for line in statement.splitlines() if not line.startswith("//")]
            self._one("[data-testid=activeEditor] textarea").send_keys(" ".join(lines))
        self._one("[data-testid=editor-Run]").click()
        self.until(lambda: len(self.all("[data-testid=frame]")) > before)

    def editor(self) -> str:
        """Return what is in the editor."""
        lines = self.all("[data-testid=activeEditor] .view-line")
        return "\n".join(line.text.replace("\xa0", " ") for line in lines)

    def drop(self, path: Path) -> None:
        """Drop a file on the window."""
        from base64 import b64encode

        self._driver.execute_script(_DROP, path.name, b64encode(path.read_bytes()).decode())

    def nodes(self) -> dict[str, str]:
        """Return caption and colour of the nodes in the newest frame, once it is drawn."""
        self.until(lambda: self._in_frame("g.node"))
        return {
            self._caption(node): self._child(node, "circle.b-outline").get_attribute("fill")
            for node in self._in_frame("g.node")
        }

    def relationships(self, count: int) -> list[str]:
        """Return the captions of the newest frame's relationships, once so many are drawn."""
        self.until(lambda: len(self._in_frame("g.relationship text")) >= count)
        found = [e.get_attribute("textContent") for e in self._in_frame("g.relationship text")]
        return sorted(text for text in found if text)

    def overview(self) -> str:
        """Return the newest frame's text, with its panel of labels and types."""
        return str(self.all("[data-testid=frame]")[0].text)

    def command(self) -> str:
        """Return what the newest frame was asked."""
        return str(self.all("[data-testid=frameCommand]")[0].text).strip().removeprefix("$ ")

    def favourites(self, folder: str) -> str:
        """Open a folder of favourites; return all that the window shows then."""
        self._one("[data-testid=navigationFavorites]").click()
        named = f"//*[text()[contains(., '{folder}')]]"
        self.until(lambda: self._driver.find_elements("xpath", named))[0].click()
        return str(self._one("body").text)

    def shoot(self, path: Path) -> None:
        """Save a picture of the newest frame."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.all("[data-testid=frame]")[0].screenshot(str(path))

    def all(self, selector: str) -> list[Any]:
        """Return what a selector finds now."""
        return self._driver.find_elements("css selector", selector)

    def until(self, condition: Callable[[], Any]) -> Any:
        """Return what a condition gives as soon as it gives something."""
        from selenium.common.exceptions import StaleElementReferenceException
        from selenium.webdriver.support.ui import WebDriverWait

        waiting = WebDriverWait(
            self._driver, WAIT, ignored_exceptions=[StaleElementReferenceException]
        )
        return waiting.until(lambda _: condition())

    def _one(self, selector: str) -> Any:
        return self.until(lambda: self.all(selector))[0]

    def _in_frame(self, selector: str) -> list[Any]:
        return self.all("[data-testid=frame]")[0].find_elements("css selector", selector)

    def _child(self, element: Any, selector: str) -> Any:
        return element.find_element("css selector", selector)

    def _caption(self, node: Any) -> str:
        lines = node.find_elements("css selector", "text.caption")
        return " ".join(line.get_attribute("textContent").strip() for line in lines)


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """Give a window; skip where there is no Chromium, unless ``KGQA_NEED_BROWSER`` is 1."""
    binary, control = shutil.which("chromium"), shutil.which("chromedriver")
    if os.environ.get("KGQA_NEED_BROWSER") != "1":
        pytest.importorskip("selenium", reason="needs selenium: pip install selenium")
        if not (binary and control):
            pytest.skip("no 'chromium' and 'chromedriver' on PATH: install them")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = binary or "chromium"
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    service = webdriver.ChromeService(control or "chromedriver")
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield Browser(driver)
    finally:
        driver.quit()
