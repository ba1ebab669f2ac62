# id: h-lost-at-place
weight 3
cast hero any
cast guide animal
pick place wild
row home: mark="a red roof" smell="fresh bread" | mark="a crooked chimney" smell="apple pie" | mark="a blue door" smell="onion soup" | mark="a tall poplar" smell="warm milk"
row chase: what="a yellow butterfly" | what="a white feather in the wind" | what="a singing bird" | what="a rolling nut"
title: {hero} Loses the Way | Lost and Found | The Way Home
request: {hero.a_kind} who gets lost | {hero.a_kind} who gets lost {place.at} | {hero.a_kind} who cannot find the way home | {hero.a_kind} {place.at} | {hero.a_kind} and {guide.a_kind} | {hero.a_kind} who follows {chase.what}
lesson: When you are lost, stand still and use all your senses. | Asking for help is not a shame.
ask: Why did {hero} get lost? => {hero.He} ran after {chase.what}.
ask: Where did {hero} get lost? => {hero.He} got lost {place.at}.
ask: Who helped {hero}? => {guide} the {guide.kind} helped {hero.him}.
ask: What did {hero} smell? => {hero.He} smelled {home.smell}.
ask: What did the house look like? => It had {home.mark}.
ask: What did {hero} run after? => {hero.He} ran after {chase.what}.
begin
= The little {hero.kind} {hero} saw {chase.what} and ran after it.
= One afternoon {hero}, {hero.a_kind}, followed {chase.what}, because it was so pretty.
= There was once {hero.a_kind} named {hero}. One day {hero.he} ran after {chase.what} and forgot everything else.
--
= {hero.He} ran and ran, until {hero.he} was {place.at}.
= It led {hero.him} farther and farther, right {place.to}.
= Before {hero} knew it, {hero.he} was {place.at}, where {hero.he} had never been.
--
= Then it was gone. {hero} looked around. Everything looked strange.
= When {hero.he} stopped at last, nothing looked like home.
= And suddenly {hero} was all alone. "Where am I?" {hero.he} asked. Nobody answered.
--
= {hero.He} ran to the left. {hero.He} ran to the right. It only got worse.
= {hero.He} walked in a circle and came back to {hero.his} own footprints.
= "This way," said {hero}. But it was the wrong way. "Then that way." That was wrong, too.
--
= {hero} sat down and began to cry. It was getting dark.
= The sun went down, and {hero.his} lip began to tremble.
= "I want to go home," whispered {hero}.
--
= "Who is crying there?" somebody asked. It was {guide}, {guide.a_kind} with kind eyes.
= Then {guide} came by, {guide.a_kind} on the way to bed. "Are you lost?" asked {guide}.
= {guide.A_kind} sat down beside {hero.him}. "I am {guide}," {guide.he} said. "I get lost all the time."
--
= "I cannot find my house," said {hero}. "What does it look like?" asked {guide}. "It has {home.mark}," said {hero}.
= "What do you know about your house?" asked {guide}. {hero} thought. "There is {home.mark}," {hero.he} said.
= {hero} told {guide} about home, and about {home.mark}.
--
= "Close your eyes," said {guide}. "What do you hear? What do you smell?"
= "It is too dark to see," said {guide}, "but we still have noses. What do you smell?"
= {guide} said, "First we stand still. Then we sniff."
--
= {hero} stood very still. And then {hero.he} smelled {home.smell}!
= At first there was nothing. Then the wind turned, and it smelled of {home.smell}.
= {hero} sniffed. "It smells of {home.smell}," {hero.he} said. "That is our supper!"
--
= They followed the smell, up and down, until they saw {home.mark}.
= Nose first, they went on, and there, in the last light, was {home.mark}.
= With every step it grew stronger. "There!" cried {hero}. It was {home.mark}.
--
= {hero}'s mother held {hero.him} for a long time. {guide} stayed for supper, of course.
= "You are home," said {guide}. "And you found it yourself." Then they ate everything up.
= {hero} was hugged, scolded and hugged again. And {guide} got the biggest plate.
end

# id: h-snow-night
weight 3
cast hero any
cast friend animal
pick cloth cloth
row snow: deep="up to the windows" made="a snow castle" | deep="up to the fence" made="a snow rabbit" | deep="over the boots" made="a slide" | deep="as high as a table" made="a house of snow"
row cold: who="a little bird" was="sitting on the step, stiff with cold" | who="a lost kitten" was="crying under the hedge" | who="a tiny mouse" was="trembling in the wood box" | who="an old crow" was="hanging its head on the gate"
title: The First Snow | {hero} in the Snow | A Warm {cloth}
request: {hero.a_kind} in the snow | a snowy day | {hero.a_kind} and {cloth.bare} | {hero.a_kind} who gives away {cloth.bare} | {hero.a_kind} and {friend.a_kind} in winter | snow | {cloth.a} on a cold day
lesson: Sharing keeps two warm. | Warmth grows when you give it away.
ask: How deep was the snow? => It was {snow.deep}.
ask: What did they build? => They built {snow.made}.
ask: Who was cold? => {cold.Who} was cold.
ask: What did {hero} give away? => {hero.He} gave away {hero.his} {cloth}.
ask: Who played with {hero}? => {friend} the {friend.kind} played with {hero.him}.
ask: Where did they find {cold.who}? => It was {cold.was}.
begin
= One morning the whole world was white. {hero}, {hero.a_kind}, pressed {hero.his} nose against the window.
= The little {hero.kind} {hero} woke up because it was so quiet. It had snowed all night.
= In the night, the first snow had come. {hero} the {hero.kind} could hardly wait to go out.
--
= The snow was {snow.deep}. {hero} put on {cloth.a} and ran outside.
= {hero} took {cloth.a} and opened the door. The snow was {snow.deep}!
= "It is {snow.deep}!" shouted {hero}, and fetched {cloth.a}.
--
= {friend}, {friend.a_kind}, was already there. A snowball flew past {hero}'s ear.
= Outside waited {friend}, {friend.a_kind} who loved the winter.
= From next door came {friend}, {friend.a_kind} with a red nose.
--
= Together they built {snow.made}. It took all morning.
= They rolled and patted and pushed, and made {snow.made}.
= "Let us build {snow.made}," said {friend}. And so they did.
--
= When they were done, their fingers were red, and they were very proud.
= Then they lay down on their backs and looked at the sky.
= Snow fell on their noses, and they laughed about it.
--
= Suddenly {hero} heard a sound. There was {cold.who}. It was {cold.was}.
= "Wait," said {friend}. "Look there." It was {cold.who}, {cold.was}.
= On the way home they found {cold.who}. It was {cold.was}.
--
= "It is much too cold for you," said {hero}.
= "You poor thing," said {friend}. "You are like ice."
= {cold.Who} could not even speak, it was so cold.
--
= {hero} looked at {hero.his} {cloth}. It was so nice and warm. Then {hero.he} took it off.
= {hero} did not think for long. {hero.He} took {hero.his} {cloth} and wrapped it around {cold.who}.
= "Take this," said {hero}, and gave away {hero.his} {cloth}.
--
= Now {hero} was cold. But {friend} came close, and they walked home side by side.
= "And you?" asked {friend}. "I have you," said {hero}, and they ran all the way home.
= {hero}'s teeth began to click. {friend} laughed and put an arm around {hero.him}.
--
= By the stove, all three of them got warm again. Outside it went on snowing.
= They drank hot milk, and {cold.who} fell asleep on {cloth.the}.
= That evening there was one more at the table. And nobody was cold anymore.
end

# id: h-star
weight 3
cast hero any
cast friend animal
pick tool tool
row fall: in="a puddle" by="the gate" | in="the well" by="the barn" | in="the pond" by="the willow" | in="a bucket" by="the back door"
row n: many="seven" | many="nine" | many="twenty" | many="a hundred"
title: The Star in the Water | {hero} and the Star | How to Keep a Star
request: {hero.a_kind} and a star | {hero.a_kind} who wants to catch a star | {hero.a_kind} who finds a star | stars | {hero.a_kind} and {friend.a_kind} who look at the stars | {hero.a_kind} who wants a star, and {tool.bare} | the night sky
lesson: Some things are most beautiful where they are. | You need not own a thing to love it.
ask: What did {hero} want to have? => {hero.He} wanted to have a star.
ask: Where did {hero} see the star? => {hero.He} saw it in {fall.in}.
ask: What did {hero} take to catch it? => {hero.He} took {tool.a}.
ask: How many stars did they count? => They counted {n.many} stars.
ask: Who told {hero} the truth about the star? => {friend} the {friend.kind} told {hero.him}.
begin
= {hero} was {hero.a_kind} who wanted a star. Just a small one, for the windowsill.
= The little {hero.kind} {hero} looked at the sky every night. "If I only had one star," {hero.he} sighed.
= Once there was {hero.a_kind} named {hero} who had everything but a star.
--
= First {hero.he} jumped. The stars did not come any nearer.
= {hero.He} climbed onto the roof, but it was not high enough.
= {hero.He} stretched out {hero.his} arms as far as they went. It was not far enough.
--
= Then, one clear night, {hero} came past {fall.in} by {fall.by}. And there was a star in it!
= But one evening something shone by {fall.by}. {hero} looked closely. There was a star in {fall.in}!
= One night {hero} saw a star lying in {fall.in}, by {fall.by}.
--
= "It has fallen down!" cried {hero}. {hero.He} ran to get {tool.a}.
= "Wait there, star," said {hero}, and fetched {tool.a}.
= {hero} took {tool.a} and went on tiptoe, so that it would not wake up.
--
= Splash! {hero} tried to catch it. The star broke into a hundred pieces.
= But when {tool.the} touched the water, the star was gone.
= {hero.He} tried it with {tool.the}, once, twice, three times. Each time the star slipped away.
--
= {hero} waited until the water was smooth. The star came back. {hero.He} tried again, and it was gone again.
= "Why do you run away?" asked {hero}. The star only trembled.
= {hero.He} was wet up to the elbows, and there was no star in {hero.his} hands.
--
= "What are you doing?" asked {friend}, {friend.a_kind} who could not sleep.
= Somebody laughed softly. It was {friend}, {friend.a_kind} who was out late.
= {friend} came by, {friend.a_kind} who knew the night well. "Are you fishing?" {friend.he} asked.
--
= "I want to catch the star," said {hero}. "Look up," said {friend}. And {hero} looked up.
= "That is not a star," said {friend}. "It is a picture of a star. The star is up there."
= {friend} pointed at the sky. "It never fell down," {friend.he} said. "The water only shows it to you."
--
= {hero} was quiet for a long time. "Then I cannot have one," {hero.he} said.
= "So it is not mine," said {hero} sadly.
= {hero} put {tool.the} down. "And I was so near," {hero.he} said.
--
= "You can have them all," said {friend}, "if you leave them there." So they lay down in the grass and counted.
= "Nobody can take them away from you, either," said {friend}. They sat down and began to count.
= {friend} sat down. "Let us count ours," {friend.he} said.
--
= They came to {n.many}. Then they fell asleep, and the stars went on shining.
= At {n.many} stars, {hero} yawned. "That is enough for one night," {hero.he} said.
= They counted {n.many}. "And tomorrow there will be more," said {friend}.
end

# id: h-lighthouse
weight 3
cast hero animal
cast keeper grownup
row storm: when="in November" broke="the lamp went out" | when="in the winter" broke="the glass was broken" | when="in the night" broke="there was no more oil" | when="in the autumn" broke="the wind blew out the light"
row ship: what="a fishing boat" n="four" | what="a sailing ship" n="nine" | what="a small steamer" n="twelve" | what="a mail boat" n="two"
row bell: did="rang the old bell" | did="beat on a big pot" | did="blew into the fog horn" | did="lit a fire of driftwood"
title: {hero} and the Lighthouse | The Light on the Rock | The Night of the Storm
request: {hero.a_kind} and a lighthouse | {hero.a_kind} who lives in a lighthouse | a storm at sea | {hero.a_kind} who saves a ship | a lighthouse | {hero.a_kind} in a storm | {hero.a_kind} and {keeper.a_kind} in a lighthouse
lesson: Even a small helper can do a big thing. | Do not give up when the light goes out.
ask: Where did {hero} live? => {hero.He} lived in a lighthouse.
ask: Who took care of the light? => {keeper} the {keeper.kind} took care of it.
ask: What happened in the storm? => {storm.Broke}.
ask: What kind of ship was it? => It was {ship.what}.
ask: How many people were on the ship? => There were {ship.n} people on it.
ask: What did {hero} do to save the ship? => {hero.He} {bell.did}.
ask: When was the storm? => It was {storm.when}.
begin
= In a lighthouse by the sea lived {hero}, {hero.a_kind}. {keeper} the {keeper.kind} took care of the light.
= {hero} was {hero.a_kind} who lived in a lighthouse with {keeper}, {keeper.a_kind}.
= The little {hero.kind} {hero} lived at the top of a lighthouse. It belonged to {keeper}, {keeper.a_kind}.
--
= Every evening {keeper} climbed the stairs and lit the lamp, and {hero} counted the steps.
= {hero} liked to sit by the lamp and look at the ships.
= At night the light went round and round, and {hero} fell asleep in the middle of a blink.
--
= "Why does it have to shine?" asked {hero}. "So that the ships can see the rocks," said {keeper}.
= "Without our light, the ships would run onto the rocks," {keeper} used to say.
= "You are too small to help," said {keeper}, "but you are good company."
--
= Then, {storm.when}, there was a great storm. The waves jumped as high as the door.
= {storm.when}, the wind began to howl. It was the worst storm that {hero} had ever seen.
= One day {storm.when}, the sky turned black, and a storm came up.
--
= And in the middle of it, {storm.broke}.
= Suddenly {storm.broke}. It was as dark as in a sack.
= There was a bang, and {storm.broke}.
--
= "Oh no!" cried {keeper}. "And there is {ship.what} out there!"
= {hero} looked out. There was {ship.what}, with {ship.n} people on it, and it came nearer and nearer.
= Far out they saw {ship.what}, and it was heading for the rocks.
--
= {keeper} ran down for help. But that would take too long. {hero} was alone.
= {keeper} tried to mend it, but {keeper.his} hands were shaking.
= {keeper} had hurt {keeper.his} foot on the stairs and could not get up.
--
= {hero} thought hard. "If they cannot see us, they must find us another way," {hero.he} said.
= "What can I do?" thought {hero}. "I am so small." Then {hero.he} had an idea.
= {hero.His} heart beat fast. Then {hero.he} knew what to do.
--
= With all {hero.his} strength {hero.he} {bell.did}, again and again.
= {hero} ran outside and {bell.did}. {hero.He} did not stop for a moment.
= So {hero.he} {bell.did}, until {hero.his} arms hurt.
--
= And the ship turned! Slowly it went around the rocks and into the harbor.
= Out at sea somebody understood. The ship turned away from the rocks just in time.
= At the last moment, the ship turned. It was saved.
--
= All {ship.n} people on {ship.what} came to say thank you. "Who was it?" they asked. "Our {hero}," said {keeper}.
= "You saved {ship.n} people," said {keeper}, "and I said that you were too small."
= The next day, {ship.n} people came up the stairs, one after the other, to shake {hero}'s hand.
end

# id: h-dragon-friend
weight 3
cast hero child
cast dragon animal
pick food food
row fire: use="toast bread" for="the whole village" | use="heat the bath water" for="the school" | use="light the street lamps" for="the town" | use="melt the snow on the road" for="the mail coach"
row hide: place="in a cave above the village" | place="behind the waterfall" | place="in the old mine" | place="in the ruins on the hill"
row scare: thing="its smoke" | thing="its roar" | thing="its long shadow" | thing="the ground that shook when it sneezed"
title: {hero} and the Dragon | The Dragon {hide.place} | A Friend with Fire
request: {hero.a_kind} and a dragon | a dragon | a friendly dragon | {hero.a_kind} who makes friends with a dragon | a dragon that lives {hide.place} | {hero.a_kind}, a dragon and {food.bare} | a lonely dragon
lesson: Do not believe every scary tale. Go and see. | Everybody is good for something.
ask: Where did the dragon live? => It lived {hide.place}.
ask: What were the people afraid of? => They were afraid of {scare.thing}.
ask: What did {hero} bring the dragon? => {hero.He} brought it {food.a}.
ask: What was the dragon's name? => Its name was {dragon}.
ask: What did the dragon do with its fire? => It used it to {fire.use}.
ask: Was the dragon bad? => No, it was only lonely.
ask: Who went to see the dragon? => {hero}, {hero.a_kind}, went to see it.
begin
= {hide.place} there lived a dragon. Everybody was afraid of it, except {hero}, {hero.a_kind} who had never seen it.
= There was once a dragon that lived {hide.place}. Nobody had ever said hello to it, until {hero}, {hero.a_kind}, came along.
= {hero} was {hero.a_kind} who lived near a dragon. The dragon lived {hide.place}, all alone.
--
= When the people saw {scare.thing}, they locked their doors.
= The people were afraid of {scare.thing}. "It will eat us all!" they said.
= "Stay away from there!" said the grown-ups, because they were afraid of {scare.thing}.
--
= "Has it ever eaten anybody?" asked {hero}. Nobody could remember.
= "What did it do?" asked {hero}. "It is a dragon," they said. "That is enough."
= "Has anyone talked to it?" asked {hero}. They shook their heads.
--
= So one day {hero} packed {food.a} and went to see for {hero.himself}.
= {hero} thought about it. Then {hero.he} took {food.a} and went up there.
= The next morning {hero} set out, with {food.a} in {hero.his} bag.
--
= The dragon was as big as a house. "Go away," it said, but its voice was small.
= Two eyes shone in the dark. "Who is there?" asked the dragon. It sounded frightened.
= There sat the dragon, and it was crying. Its tears hissed on the stones.
--
= "I brought you {food.a}," said {hero}. "I am {hero}. What is your name?"
= {hero}'s knees shook. But {hero.he} put {food.a} on the ground. "This is for you," {hero.he} said. "Who are you?"
= "Good morning," said {hero}, and held out {food.a}. "I am {hero}. And you?"
--
= "{dragon}," said the dragon. "Nobody ever asked."
= The dragon was so surprised that it hiccuped. "My name is {dragon}," it said.
= "I am {dragon}," said the dragon. "Are you not afraid?" "A little," said {hero}.
--
= They ate {food.the} together, and {dragon} told {hero.him} how lonely it was.
= {dragon} took a very small bite. "It is good," {dragon} said. "I have never had company before."
= {dragon} had no friends, because everyone ran away. "I would so much like to be useful," said {dragon}.
--
= "You can make fire," said {hero}. "Do you know how much we need that?"
= {hero} looked at the little flames and had an idea. "Come with me," {hero.he} said.
= "I know what you could do," said {hero}. "Can you make a small fire, too?"
--
= From that day on, {dragon} used its fire to {fire.use} for {fire.for}.
= And so {dragon} came down and helped to {fire.use} for {fire.for}.
= Now {dragon} could {fire.use} for {fire.for}, faster than anyone.
--
= First the people peeped through their curtains. Then they came out. At last they brought cake.
= "A very nice dragon," said the people. "We always knew it." {hero} only smiled.
= Nobody locked the doors anymore. And {hero} had a friend who was always warm.
end
