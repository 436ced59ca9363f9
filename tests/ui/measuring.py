"""What does not fit on a page: usable elements beside the window, texts that are cut off, and texts over others."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.ui.desk import Desk, wait_until

__all__ = ["WINDOWS", "require_room"]

WINDOWS = [(1440, 900), (1024, 768), (640, 450), (390, 844)]
"""Of an office, a tablet, a wide one at 200 % and a telephone."""

# Usable elements outside the window. Tables have their own scroll bar.
BESIDE = """() => {
  const scrolls = (one) => one && (one.matches(".sapUiTableCtrlScr")
    || (/auto|scroll/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth)
    || scrolls(one.parentElement));
  const isBeside = ({left, right, width}) => width > 1 && (right > window.innerWidth + 1 || left < -1);
  return [...document.querySelectorAll("h1, h2, a[href], button, input, [role=button], [role=tab]")]
    .filter((one) => one.checkVisibility({visibilityProperty: true, opacityProperty: true}))
    .filter((one) => isBeside(one.getBoundingClientRect()) && !scrolls(one.parentElement))
    .map((one) => one.outerHTML.slice(0, 200));
}"""

# Texts that are cut off, and pairs of texts of which one lies over the other by more than 2 pixels. What can be
# scrolled to is not cut off, though it is not seen; what can be seen counts for a pair. A bar of the calendar says
# again what stands whole at the beginning of its row; a text that a list shows some lines of is whole on its page.
UNREADABLE = """() => {
  const LEAST = 2, AGAIN = ".promenadeBar, .sapMTextLineClamp";
  const root = document.querySelector("#promenade---shell--pages");
  const isSeen = (one) => one.checkVisibility({visibilityProperty: true, opacityProperty: true});
  const scrolls = (one, overflow) =>
    /auto|scroll/.test(overflow) || one.matches(".sapUiTableCtrlScr, .sapUiTableColHdrScr, .sapUiTableCCnt");
  const cuts = (overflow) => /hidden|clip/.test(overflow);
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const cut = [], seen = [];
  while (walker.nextNode()) {
    const node = walker.currentNode, leaf = node.parentElement;
    if (!node.data.trim() || !isSeen(leaf)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const all = range.getBoundingClientRect();
    if (all.width < LEAST || all.height < LEAST) continue;
    const shown = {left: all.left, right: all.right, top: all.top, bottom: all.bottom};
    let [isWide, isHigh] = [false, false], [scrollsX, scrollsY] = [false, false];
    for (let up = leaf; up && up !== document.body; up = up.parentElement) {
      const {overflowX, overflowY, clip} = getComputedStyle(up), box = up.getBoundingClientRect();
      const isForReaders = clip !== "auto" || ((box.width <= 1 || box.height <= 1) && cuts(overflowX));
      if (isForReaders) { shown.right = shown.left; break; }
      scrollsX ||= scrolls(up, overflowX);
      scrollsY ||= scrolls(up, overflowY);
      isWide ||= !scrollsX && cuts(overflowX) && (all.right > box.right + 1 || all.left < box.left - 1);
      // A line is higher than its letters: what is cut off there is empty.
      isHigh ||= !scrollsY && cuts(overflowY) && (all.bottom > box.bottom + 4 || all.top < box.top - 4);
      if (overflowX !== "visible" || up.matches(".sapUiTableCtrlScr")) {
        shown.left = Math.max(shown.left, box.left);
        shown.right = Math.min(shown.right, box.right);
      }
      if (overflowY !== "visible" || up.matches(".sapUiTableCCnt")) {
        shown.top = Math.max(shown.top, box.top);
        shown.bottom = Math.min(shown.bottom, box.bottom);
      }
    }
    if (shown.right - shown.left <= LEAST || shown.bottom - shown.top <= LEAST) continue;
    if ((isWide || isHigh) && !leaf.closest(AGAIN)) cut.push(`cut off: ${node.data} <${leaf.className}>`);
    seen.push({leaf, text: node.data, ...shown});
  }
  // What lies below a head that stays where it is, is not seen there.
  const isCovered = (leaf, stack) => stack.slice(0, Math.max(0, stack.indexOf(leaf)))
    .some((one) => !one.contains(leaf) && !/, 0\\)|transparent/.test(getComputedStyle(one).backgroundColor));
  const isOver = (one, other) => {
    const [left, right] = [Math.max(one.left, other.left), Math.min(one.right, other.right)];
    const [top, bottom] = [Math.max(one.top, other.top), Math.min(one.bottom, other.bottom)];
    if (one.leaf === other.leaf || right - left <= LEAST || bottom - top <= LEAST) return false;
    const stack = document.elementsFromPoint((left + right) / 2, (top + bottom) / 2);
    return !isCovered(one.leaf, stack) && !isCovered(other.leaf, stack);
  };
  const over = seen.flatMap((one, at) => seen.slice(at + 1).filter((other) => isOver(one, other))
    .map((other) => `over each other: ${one.text} | ${other.text} <${one.leaf.className} | ${other.leaf.className}>`));
  return [...cut, ...over];
}"""


def require_room(desk: Desk, page: Page) -> None:
    """Fail if, in a window of any width, a usable element lies outside, or a text is cut off or over another."""
    for width, height in WINDOWS:
        page.set_viewport_size({"width": width, "height": height})
        desk.settle(page)
        for wrong in (BESIDE, UNREADABLE):
            try:
                wait_until(page, f"() => ({wrong})().length === 0")
            except AssertionError:
                found: list[str] = page.evaluate(wrong)
                pytest.fail("\n".join([f"in a window of {width} pixels:", *found[:20]]))
        wait_until(page, "() => document.documentElement.scrollWidth <= window.innerWidth")
