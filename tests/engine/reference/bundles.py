"""BUNDLE: as many complete bundles as the units allow (section 6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from promenade.engine.definition import ActionRow, ComponentRow
from tests.engine.reference.actions import Taking, Turn, distribute, excluded, select_pieces
from tests.engine.reference.sale import Piece


@dataclass
class Slot:
    """One place in one bundle, for a unit of a component."""

    bundle: int
    component: ComponentRow
    piece: Piece | None = None


@dataclass
class Bundle:
    discounted: list[Piece] = field(default_factory=list)
    everything: list[Piece] = field(default_factory=list)


def serves(turn: Turn, piece: Piece, component: ComponentRow) -> bool:
    """Return whether the piece can stand in for the component; a free one can only be something bought."""
    if component.discounted and turn.is_free(piece):
        return False
    sale = turn.sale
    line = sale.lines[piece.line]
    if component.article_number is not None:
        return line.row.article_number == component.article_number
    assert component.article_group_id is not None
    return sale.in_group(line, component.article_group_id, component.include_sub_groups)


def run_bundles(turn: Turn, action: ActionRow, used: set[Piece], most: int | None) -> tuple[list[Taking], int]:
    """Return the discounts of the action and their number of bundles; ``used`` units are not used again."""
    sale = turn.sale
    lines = [line for line in sale.sale_lines if not any(excluded(sale, line, row) for row in action.exclusions)]
    pieces = [piece for line in lines for piece in line.pieces if turn.may_use(piece) and piece not in used]
    bundles = fill(turn, action, pieces, most)
    exact = Fraction(0)
    weights: dict[Piece, Fraction] = {}
    for bundle in bundles:
        chosen = select_pieces(action, sorted(bundle.discounted, key=lambda each: (each.line, each.number)))
        discount = discount_of(turn, action, bundle, chosen)
        everything = [piece for piece in bundle.everything if turn.open(piece)]
        bearers = chosen if action.distribution_mode is None else everything
        base = sum((turn.base(piece) for piece in bearers), Fraction(0))
        if discount > 0:
            exact += discount
            weights |= {piece: discount * turn.base(piece) / base for piece in bearers}
    bearing = sorted(weights, key=lambda each: (each.line, each.number))
    takings = distribute(turn, action, bearing, exact, weights, action.discount_type or "")
    for taking in takings:  # within a line by the value of its pieces
        taking.shares = {piece: turn.base(piece) for piece in taking.shares}
    if any(taking.amount for taking in takings):
        used.update(piece for bundle in bundles for piece in bundle.everything)
    return takings, len(bundles)


def fill(turn: Turn, action: ActionRow, pieces: list[Piece], most: int | None) -> list[Bundle]:
    """Return complete bundles, most expensive units first (selectionType CHEAPEST: cheapest first)."""
    sign = 1 if action.selection_type == "CHEAPEST" else -1
    pieces = sorted(pieces, key=lambda each: (sign * each.price, each.line, each.number))
    components = sorted(action.components, key=lambda each: each.sequence)
    limits = [limit for limit in (action.max_bundles, most) if limit is not None]
    count = 0
    while (not limits or count < min(limits)) and feasible(turn, slots(components, count + 1), pieces):
        count += 1
    places = slots(components, count)
    gets = [component for component in components if component.discounted]
    free = list(pieces)
    for place in sorted(places, key=lambda each: (not each.component.discounted, each.component.sequence, each.bundle)):
        suitors = [piece for piece in free if serves(turn, piece, place.component)]
        if not place.component.discounted:
            suitors.sort(key=lambda piece: any(serves(turn, piece, get) for get in gets))
        for piece in suitors:
            place.piece = piece
            rest = [each for each in free if each is not piece]
            if feasible(turn, [each for each in places if each.piece is None], rest):
                free = rest
                break
    bundles = [Bundle() for _ in range(count)]
    for place in places:
        assert place.piece is not None
        bundles[place.bundle].everything.append(place.piece)
        if place.component.discounted:
            bundles[place.bundle].discounted.append(place.piece)
    return bundles


def slots(components: list[ComponentRow], count: int) -> list[Slot]:
    return [
        Slot(bundle, component)
        for bundle in range(count)
        for component in components
        for _ in range(component.quantity_thousandths // 1000)
    ]


def feasible(turn: Turn, places: list[Slot], pieces: list[Piece]) -> bool:
    """Return whether every place can get a piece of its own (augmenting paths)."""
    holder: dict[Piece, int] = {}

    def seat(index: int, tried: set[Piece]) -> bool:
        for piece in pieces:
            if piece in tried or not serves(turn, piece, places[index].component):
                continue
            tried.add(piece)
            if piece not in holder or seat(holder[piece], tried):
                holder[piece] = index
                return True
        return False

    return all(seat(index, set()) for index in range(len(places)))


def discount_of(turn: Turn, action: ActionRow, bundle: Bundle, chosen: list[Piece]) -> Fraction:
    """Return the exact discount on one bundle, limited to what is left of the units it applies to."""
    value = action.discount_value_hundredths or 0
    left = sum((piece.left for piece in chosen), Fraction(0))
    if action.discount_type == "PERCENTAGE":
        return min(sum((turn.base(piece) for piece in chosen), Fraction(0)) * value / 10_000, left)
    if action.discount_type == "ABSOLUTE":
        return min(turn.sale.minor(value), left)
    whole = sum((piece.left for piece in bundle.everything), Fraction(0))
    return min(max(Fraction(0), whole - turn.sale.minor(value)), left)
