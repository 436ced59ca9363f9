"""The checker finds what it claims to find: every change below breaks one rule of CSDL."""

from __future__ import annotations

import pytest

from odata_server.csdl.xml import render_xml
from tests.odata_server.csdl.checker import faults
from tests.odata_server.csdl.library import library


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ('Version="4.01"', 'Version="4.0"'),
        ('Alias="UI"', 'Alias="Core"'),
        ('Term="UI.LineItem" Qualifier="Short"', 'Term="UI.LineItem"'),
        ('Term="Toy.Way"', 'Term="Hidden.Way"'),
        ('<PropertyRef Name="number" />', '<PropertyRef Name="sequel_book_ID" />'),
        ('Name="isbn" Type="Edm.String"', 'Name="isbn" Type="Edm.Text"'),
        ('Name="isbn" Type="Edm.String"', 'Name="isbn" Type="Library.v1.Paper"'),
        ('Name="isbn" Type="Edm.String"', 'Name="isbn" Type="Library.v1.Author"'),
        ('Name="isbn"', 'Name="title"'),
        ('Name="isbn"', 'Name="is bn"'),
        ('Type="Edm.Int32" DefaultValue="0"', 'Type="Edm.Int32" MaxLength="1"'),
        ('Precision="5" Scale="2"', 'Precision="5" Scale="6"'),
        ('Partner="books"', 'Partner="name"'),
        ('Property="author_ID" ReferencedProperty="ID"', 'Property="title" ReferencedProperty="ID"'),
        ('Property="author_ID" ReferencedProperty="ID"', 'Property="ID" ReferencedProperty="ID"'),
        ('<OnDelete Action="Cascade" />', "<OnDelete />"),
        ('Path="author" Target="LivingAuthors"', 'Path="author" Target="Books"'),
        ('Path="notes/writer"', 'Path="notes/author"'),
        ('Action="Library.v1.restock"', 'Action="Library.v1.reprint"'),
        ('EntitySet="Books"', 'EntitySet="Boks"'),
        ('Type="Collection(Library.v1.Book)" Nullable="false" />', 'Type="Library.v1.Book" Nullable="false" />'),
        ("<Null />", "<Nothing />"),
        ('Term="Toy.Way"', 'Term="Toy.Way" Bool="true"'),
        ('Name="restock" Action', 'Name="Books" Action'),
    ],
)
def test_each_violation_of_csdl_is_found(good: str, bad: str) -> None:
    text = render_xml(library()).decode()
    assert good in text
    assert faults(text.replace(good, bad, 1).encode(), "4.01") != []
