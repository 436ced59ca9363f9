"""A second implementation of the pricing rules, slow and literal: fractions, one object per piece, no index.

It shares nothing with the engine but its frozen values (definition, basket, outcome) and the draw of RANDOM.
"""
