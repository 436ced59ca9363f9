"""The demo retailer's words: departments, categories and sub groups, brands, towns. Plain data, nothing runs here.

A department line reads ``name | lowest price - highest price in cents | brands``; below it every category with
its sub groups. A sub group followed by ``*`` is sold by weight. Ten departments, forty categories and a hundred
and fifty sub groups make the tree of 200 article groups.
"""

__all__ = ["DEPARTMENTS", "FIRST_WORDS", "POS_GROUPS", "SIZES"]

DEPARTMENTS = """
Fruit and vegetables | 79-599 | Gartenhof, Sonnentor, Verde, Obstwerk
  Fruit: Apples*, Bananas*, Berries, Citrus*
  Vegetables: Tomatoes*, Cucumbers, Carrots*, Peppers*
  Salads: Lettuce, Mixed salads, Herbs, Sprouts
  Prepared: Cut fruit, Smoothies, Vegetable snacks, Soups
Dairy and eggs | 69-899 | Almwiese, Milchquelle, Nordkuh, Frischling
  Milk: Fresh milk, Long-life milk, Plant drinks, Buttermilk
  Cheese: Hard cheese*, Soft cheese, Sliced cheese, Fresh cheese
  Yoghurt: Natural yoghurt, Fruit yoghurt, Skyr, Desserts
  Eggs and butter: Free-range eggs, Organic eggs, Butter
Meat and fish | 199-2999 | Metzgerhaus, Landgut, Hafenfang, Nordsee
  Beef and pork: Steaks*, Minced meat, Roasts*, Sausages
  Poultry: Chicken*, Turkey*, Duck, Marinated poultry
  Fish: Salmon*, White fish*, Shellfish, Smoked fish
  Cold cuts: Ham, Salami, Liver sausage
Bakery | 49-699 | Backstube, Kornkammer, Morgenrot, Ofenfrisch
  Bread: Rye bread, Wheat bread, Wholegrain bread, Gluten-free bread
  Rolls: Plain rolls, Seeded rolls, Pretzels, Baguettes
  Cakes: Cream cakes, Fruit cakes, Muffins, Doughnuts
  Biscuits: Shortbread, Wafers, Gingerbread
Pantry | 59-1299 | Hausmarke, Casa Roma, Reiskorn, Goldkorn, Feinkost Lenz
  Pasta and rice: Pasta, Rice, Couscous, Noodles
  Canned food: Canned tomatoes, Beans, Canned fish, Canned fruit
  Oils and spices: Olive oil, Vinegar, Spices, Salt
  Breakfast: Muesli, Cornflakes, Jam, Honey
Drinks | 49-2499 | Quellgrund, Bergbraeu, Rebenhang, Kaffeewerk, Teehaus
  Coffee: Ground coffee, Coffee beans, Coffee pods, Instant coffee
  Tea: Black tea, Green tea, Herbal tea, Iced tea
  Soft drinks: Mineral water, Juice, Cola, Energy drinks
  Beer and wine: Lager, Wheat beer, Red wine, White wine
Household | 99-1999 | Blitzblank, Reinfix, Papyrus, Klarwerk
  Laundry: Detergent, Fabric softener, Stain remover, Colour catcher
  Cleaning: Floor cleaner, Bathroom cleaner, Glass cleaner, Dish soap
  Paper: Toilet paper, Kitchen rolls, Tissues, Napkins
  Kitchen helpers: Foil, Freezer bags, Candles
Beauty and health | 99-3999 | Lavida, Hautnah, Mintfrisch, Purus
  Hair: Shampoo, Conditioner, Hair colour, Styling
  Body: Shower gel, Body lotion, Deodorant, Sun care
  Face: Day cream, Cleanser, Lip care, Make-up
  Mouth: Toothpaste, Toothbrushes, Mouthwash
Baby and pets | 79-3499 | Sternchen, Knuddel, Pfote, Bello
  Nappies: Newborn nappies, Junior nappies, Wipes, Training pants
  Baby food: Porridge, Purees, Baby drinks
  Dogs: Dry dog food, Wet dog food, Dog treats
  Cats: Dry cat food, Wet cat food, Cat litter
Home and leisure | 199-9999 | Wohnzeit, Werkfreund, Spielbrett, Trailhead
  Kitchenware: Pans, Knives, Storage boxes, Glasses
  Stationery: Pens, Notebooks, Wrapping paper
  Toys: Board games, Building blocks, Soft toys
  Garden: Flower pots, Seeds, Garden tools, Lanterns
"""

FIRST_WORDS = (
    "Classic", "Organic", "Mild", "Strong", "Fine", "Family", "Premium", "Light",
    "Country", "Original", "Fresh", "Selected", "Royal", "Little", "Bright", "Pure",
)  # fmt: skip

SIZES = ("200 g", "250 g", "400 g", "500 g", "750 g", "1 kg", "0.5 l", "1 l", "2 pieces", "6 pieces", "12 pieces")

# code, name, parent code, currency, time zone, country
POS_GROUPS = (
    ("DE", "Promenade Germany", None, "EUR", "Europe/Berlin", "DE"),
    ("DE-HAM", "Hamburg Jungfernstieg", "DE", "EUR", "Europe/Berlin", "DE"),
    ("DE-BER", "Berlin Friedrichstrasse", "DE", "EUR", "Europe/Berlin", "DE"),
    ("DE-MUC", "Munich Sendlinger Tor", "DE", "EUR", "Europe/Berlin", "DE"),
    ("DE-WEB", "Webshop Germany", "DE", "EUR", "Europe/Berlin", "DE"),
    ("CH", "Promenade Switzerland", None, "CHF", "Europe/Zurich", "CH"),
    ("CH-ZRH", "Zurich Bahnhofstrasse", "CH", "CHF", "Europe/Zurich", "CH"),
    ("CH-GVA", "Geneva Rue du Rhone", "CH", "CHF", "Europe/Zurich", "CH"),
    ("CH-WEB", "Webshop Switzerland", "CH", "CHF", "Europe/Zurich", "CH"),
    ("JP", "Promenade Japan", None, "JPY", "Asia/Tokyo", "JP"),
    ("JP-TYO", "Tokyo Ginza", "JP", "JPY", "Asia/Tokyo", "JP"),
    ("JP-OSA", "Osaka Umeda", "JP", "JPY", "Asia/Tokyo", "JP"),
)
