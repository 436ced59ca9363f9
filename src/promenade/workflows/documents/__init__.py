"""Promotions as documents: all that belongs to one of them as YAML, by codes and never by IDs.

`shape` derives the members of a document from the declarations; everything else reads the shape. A document in its
normal form is a dict: values as the model types them, references as codes, nothing that equals its default, lists in
one order. Two promotions are equal if their documents are.
"""
