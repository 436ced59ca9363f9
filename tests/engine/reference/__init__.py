"""The pricing rules once more, slow and literal: fractions, one object per piece, no index.

Nothing here is shared with the engine but its frozen values (definition, basket, outcome) and the draw of RANDOM.
"""
