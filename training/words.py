"""The words that stories are filled with: names and kinds of characters, things and places.

The lists are wide on purpose: a model that has seen a word in a hundred plots learns to take it from the request.
"""

GIRLS = """Lily Mia Anna Lucy Emma Ella Zoe Rosa Nina Ida Mara Lena Ruby Clara Hana Amy Daisy Molly Tara Maya Nora Elsie Ivy
June Kira Leila Sofia Wren Ada Bella Cora Dora Fern Gia Isla Jade Lola Nia Olive Pia Sara Tess Vera Willa Yuki Zara Asha Mina
Alice Amelia Aisha Beth Carla Chloe Diana Edith Eva Fatima Flora Freya Grace Greta Hannah Heidi Helen Ingrid Iris Jana Jenny
Josie Judy Julia Kate Kim Layla Lea Lina Lisa Lotte Luna Mabel Maria Marta Mary Meg Mei Nadia Naomi Olga Paula Polly Priya
Rachel Rita Sally Sandra Selma Sonja Stella Susan Suki Tilly Uma Valerie Violet Wanda Yara""".split()

BOYS = """Tim Ben Sam Max Leo Tom Jack Finn Noah Omar Luca Emil Otto Theo Hugo Milo Jonas Felix Adam Oscar Ravi Kofi Juan Eli
Toby Henry Arlo Caleb Dan Ezra Fred Gus Ian Jay Kai Liam Ned Owen Paul Rory Seth Tariq Ugo Will Yan Zack Amir Bruno Cyrus Diego
Alex Ali Anton Bill Bob Carl Charlie Daniel David Dylan Edgar Elias Erik Frank George Hans Harry Ivan Jacob James Jim Joe John
Jules Karl Kenji Lars Levi Lucas Luis Mark Martin Mateo Matt Mike Mohamed Nick Nico Nils Oliver Pablo Pedro Peter Philip Ray
Robin Ryan Samir Simon Stefan Steve Sven Thomas Tony Victor Walter Yusuf Zeno""".split()

PET_NAMES = """Pip Hazel Biscuit Moss Clover Bramble Pepper Poppy Nutmeg Juniper Tuft Button Maple Pebble Sunny Whisker Dot Bean
Tansy Rusty Willow Snowy Fig Thistle Barley Puddle Berry Cricket Dusty Ember Flip Ginger Inky Jasper Kip Lark Mango Nibbles Olly
Patch Quill Rolo Sage Tumble Velvet Waffle Ziggy Acorn Basil Bella Benny Blaze Bobo Bonnie Bruno Bubbles Buddy Caramel Chestnut
Cinnamon Coco Cookie Copper Daisy Domino Dusk Echo Fern Fidget Fluff Freckle Frosty Fuzzy Goldie Hopper Honey Jojo Kiki Lucky
Lulu Marble Max Midnight Milo Mimi Misty Mocha Momo Muffin Nugget Oreo Otis Paddle Peanut Penny Pickle Plum Quinn Ralph Rex
Ripple Rocky Rosie Ruffle Salty Scout Shadow Skip Smokey Sparkle Speckle Spot Squeak Stripe Swift Teddy Toffee Trixie Twig
Wiggle Willy Winnie Woolly Yoyo Zippy""".split()

COMMON_ANIMALS = """rabbit fox hedgehog mouse squirrel owl frog bear badger otter duck goose robin mole deer turtle kitten puppy
lamb piglet beaver hen sparrow raccoon pony goat swan bat snail crab seal penguin tern gull elephant lion monkey parrot koala
camel""".split()

MORE_ANIMALS = """cat dog cow horse donkey sheep pig chicken rooster wolf tiger giraffe zebra hippo rhino panda kangaroo crocodile
alligator snake lizard gecko chameleon toad newt salamander tortoise whale dolphin shark octopus squid starfish seahorse jellyfish
lobster shrimp fish goldfish salmon eel bee ant butterfly ladybug spider grasshopper cricket beetle dragonfly firefly caterpillar
worm moth fly crow raven magpie jay eagle hawk falcon dove pigeon stork heron crane flamingo pelican puffin ostrich emu peacock
turkey quail woodpecker hummingbird kingfisher cuckoo blackbird nightingale canary bluebird finch wren lark swallow albatross
weasel ferret stoat marten mink skunk possum opossum armadillo anteater sloth lemur gorilla chimpanzee baboon orangutan meerkat
mongoose hyena jackal cheetah leopard jaguar panther lynx bobcat puma moose elk reindeer caribou antelope gazelle buffalo bison
yak ox llama alpaca walrus manatee platypus wombat wallaby hamster gerbil chipmunk marmot porcupine hare bunny calf foal kid cub
chick duckling gosling fawn tadpole rat vole shrew dormouse guinea_pig polar_bear red_panda sea_lion sea_turtle baby_elephant
barn_owl tree_frog little_bird old_dog stray_cat dinosaur dragon unicorn griffin phoenix""".replace("\n", " ").split(" ")
MORE_ANIMALS = [animal.replace("_", " ") for animal in MORE_ANIMALS]

# Kinds that are no animals and no children. They take the part of a character of any kind now and then.
BEINGS = {
    "he": "prince king knight wizard pirate giant robot dwarf sailor shepherd farmer snowman elf gnome baker clown".split(),
    "she": "princess queen witch fairy mermaid robot giant sailor shepherd dancer pirate elf inventor painter baker".split(),
}

GROWN_UPS = [
    ("Grandma Rose", "grandmother", "she"),
    ("Grandpa Joe", "grandfather", "he"),
    ("Mrs. Brown", "teacher", "she"),
    ("Mr. Green", "gardener", "he"),
    ("Mrs. Hill", "baker", "she"),
    ("Mr. Stone", "farmer", "he"),
    ("Aunt May", "aunt", "she"),
    ("Uncle Sol", "uncle", "he"),
    ("Captain Reed", "sailor", "he"),
    ("Miss Lark", "librarian", "she"),
    ("Old Bern", "shepherd", "he"),
    ("Mrs. Fisher", "fisherwoman", "she"),
    ("Mr. Wood", "carpenter", "he"),
    ("Doctor Penn", "doctor", "she"),
    ("Miss Bell", "music teacher", "she"),
    ("Mr. Pike", "postman", "he"),
    ("Grandma Nell", "grandmother", "she"),
    ("Grandpa Abe", "grandfather", "he"),
    ("Mrs. Cook", "cook", "she"),
    ("Mr. Clay", "potter", "he"),
    ("Mr. Frost", "lighthouse keeper", "he"),
    ("Mrs. Weaver", "weaver", "she"),
    ("Mr. Miller", "miller", "he"),
    ("Miss Finch", "painter", "she"),
    ("Mr. Tick", "clockmaker", "he"),
]

COLORS = "red blue green yellow white brown orange purple pink silver golden gray".split()
PLAIN = "small big old new shiny".split()

# Category: adjectives that go with its things, and the things.
_THINGS = {
    "toy": (
        COLORS + ["small", "new", "old", "wooden"],
        "kite,ball,boat,train,drum,doll,puzzle,top,yo-yo,teddy bear,wagon,scooter,toy car,balloon,jump rope,hoop,robot,"
        "rocking horse,paper plane,music box,puppet,tricycle,dollhouse,toy truck,skateboard,frisbee,swing,sandbox,toy ship,"
        "whistle,slingshot,beach ball,marble,toy soldier,windmill,tea set,spinning top,toy rocket,stuffed rabbit,domino,"
        "bubble wand,building block,toy duck,pinwheel,boomerang,kaleidoscope,trampoline",
    ),
    "treasure": (
        ["small", "old", "shiny", "round", "strange", "tiny"],
        "key,coin,shell,ring,stone,button,bell,feather,map,box,bottle,lamp,locket,marble,compass,spoon,crown,mirror,whistle,"
        "pearl,diamond,gem,crystal,necklace,medal,chest,cup,egg,star,acorn,clock,watch,telescope,magnet,brooch,thimble,pebble,"
        "seashell,jewel,ruby,emerald,golden apple,candle,lantern,pocket watch,magnifying glass,snow globe,horseshoe,amulet,"
        "hourglass,goblet,chain,pin,wand,magic wand,purse,statue",
    ),
    "food": (
        ["sweet", "warm", "fresh", "big", "round"],
        "pie,cake,apple,loaf of bread,pancake,cookie,pear,bun,sandwich,muffin,melon,bowl of soup,pot of jam,plum tart,carrot,"
        "pumpkin,pizza,jar of honey,peach,biscuit,birthday cake,banana,orange,lemon,cupcake,waffle,doughnut,pretzel,cheese,"
        "potato,turnip,cabbage,cherry,strawberry,mushroom,nut,bowl of rice,basket of berries,lollipop,candy,chocolate bar,"
        "ice cream cone,pot of stew,gingerbread,dumpling,omelet,pineapple,coconut,mango,watermelon",
    ),
    "plant": (
        ["tiny", "tall", "young", "green"],
        "tree,rose,sunflower,bean plant,apple tree,pumpkin vine,daisy,strawberry plant,oak,fern,tulip,tomato plant,cactus,lily,"
        "pine tree,willow,cherry tree,maple,ivy,clover,dandelion,poppy,violet,daffodil,lavender bush,rose bush,pear tree,palm "
        "tree,birch,mushroom,blueberry bush,orchid,lemon tree,grapevine,snowdrop,bluebell,flower,seedling",
    ),
    "tool": (
        ["old", "strong", "long", "wooden"],
        "ladder,rope,shovel,basket,bucket,lantern,broom,hammer,net,cart,rake,wheelbarrow,saw,axe,hook,pot,kettle,brush,mop,"
        "fishing rod,umbrella,flashlight,wheel,plank,sack,barrel,pitchfork,watering can,paintbrush,needle,loom,spade,pail,"
        "paddle,oar,anchor,stick,walking stick,lamp,torch,telescope,pan,candle,clock,chair,stool,table,suitcase,backpack",
    ),
    "cloth": (
        COLORS + ["warm", "soft", "new"],
        "hat,scarf,coat,blanket,sweater,cap,dress,shirt,cloak,bow tie,apron,mitten,jacket,sock,boot,shoe,glove,pillow,quilt,"
        "ribbon,belt,vest,skirt,cape,raincoat,sun hat,top hat,tie,handkerchief,shawl,robe,slipper,bonnet,curtain,flag,bag,rug,"
        "pair of boots,pair of socks,pair of mittens,pair of shoes",
    ),
    "music": (
        ["small", "old", "wooden", "shiny"],
        "flute,drum,violin,guitar,trumpet,harp,piano,bell,horn,fiddle,whistle,banjo,accordion,xylophone,harmonica,tambourine,"
        "ukulele,cello,recorder,triangle,clarinet,organ,bagpipe,trombone,gong,lute,tuba,saxophone,mandolin,rattle",
    ),
    "vehicle": (
        COLORS + ["old", "little", "fast"],
        "boat,train,bus,truck,bicycle,wagon,sled,airplane,tractor,canoe,hot-air balloon,ship,car,fire truck,sailboat,tugboat,"
        "raft,submarine,rocket,helicopter,spaceship,motorcycle,scooter,van,taxi,tram,trolley,kayak,ferry,steamboat,carriage,"
        "sleigh,cable car,digger,crane,race car,garbage truck,rowboat,glider,airship",
    ),
    "book": (
        ["old", "thick", "new", "small"],
        "book,letter,diary,notebook,picture book,songbook,cookbook,map,storybook,postcard,newspaper,album,atlas,comic book,"
        "scroll,dictionary,fairy tale,poem,sketchbook,treasure map,recipe,calendar",
    ),
    "craft": (
        COLORS + ["small", "big", "paper", "clay"],
        "lantern,birdhouse,castle,mask,bracelet,vase,painting,card,nest,bridge,tower,treehouse,kite,puppet,boat,bowl,picture,"
        "basket,necklace,quilt,sandcastle,snowman,scarecrow,fort,windmill,paper crane,paper boat,statue,flag,crown,costume,"
        "doghouse,tent,cup,pot,lamp,mobile,candle,drawing,mosaic,wreath,house",
    ),
}

# Category: preposition of being there, preposition of going there, and the places.
_PLACES = {
    "outdoor": [
        ("in", "to", "park,meadow,market,village,town,zoo,vineyard,square,street,churchyard"),
        ("in", "into", "forest,garden,field,orchard,valley,woods,yard,bushes,corn field,fir wood,rose garden"),
        ("at", "to", "beach,playground,fair,fountain,crossroads,old well,lighthouse,mill,railway bridge,edge of the forest"),
        ("on", "up", "hill,green hill"),
        ("by", "to", "river,pond,lake,old wall,brook,hedge,big oak,windmill"),
        ("on", "to", "farm,bridge,island,heath"),
    ],
    "wild": [
        ("in", "into", "forest,cave,swamp,desert,jungle,canyon,snowy woods,dark woods,bamboo grove,marsh,rain forest,pine wood"),
        ("on", "up", "mountain,volcano,icy peak,cliff,glacier"),
        ("on", "to", "island,rocky shore,moor,ice,coral reef,prairie,high plain"),
        ("at", "to", "waterfall,hot spring,end of the valley"),
    ],
    "indoor": [
        ("in", "into", "kitchen,barn,shed,workshop,greenhouse,tower,castle,bedroom,cottage,classroom,stable,tent,cabin,mill"),
        ("in", "to", "library,bakery,museum,toy shop,theater,inn,town hall,palace,post office,cafe,hospital"),
        ("at", "to", "school,train station,airport,circus,bus station"),
        ("in", "up to", "attic,treehouse,lighthouse"),
        ("in", "down to", "cellar,basement,harbor shed"),
    ],
    "water": [
        ("by", "to", "river,sea,pond,lake,stream,brook,creek,canal,waterfall,ocean,blue lagoon,well,mill pond"),
        ("at", "to", "harbor,beach,dock,shore,bay,pier"),
    ],
}

THINGS = {category: [(adjectives, word) for word in words.split(",")] for category, (adjectives, words) in _THINGS.items()}
# Anything that can be carried about, made, lost and found.
_CARRIED = ("toy", "treasure", "tool", "cloth", "music", "book", "craft")
_FIXED = set("swing sandbox trampoline bridge tower treehouse house doghouse tent castle fort windmill snowman sandcastle piano "
             "organ scarecrow curtain table nest ladder barrel".split())
THINGS["any"] = [(PLAIN, word) for category in _CARRIED for _, word in THINGS[category] if word not in _FIXED and "pair" not in word]
PLACES = {
    category: [(word, at, to) for at, to, words in groups for word in words.split(",")] for category, groups in _PLACES.items()
}
