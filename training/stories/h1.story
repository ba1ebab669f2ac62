# id: h-finds-a-thing
weight 3
cast hero any
cast friend animal
pick thing any
pick place outdoor
row spot: where="under a fallen leaf" | where="between two roots" | where="behind a gray rock" | where="beside a puddle" | where="in a clump of tall grass" | where="at the foot of an old tree"
row owner: who="an old woman with a stick" has="she had looked for it since spring" gift="a warm bun" | who="a mailman with a heavy bag" has="it had dropped out of his bag" gift="a stamp with a ship on it" | who="a girl on a red bicycle" has="it had bounced out of her basket" gift="a ride around the pond" | who="a tired peddler" has="it was the last one that he had" gift="a shiny bead" | who="a boy with wet eyes" has="it had belonged to his grandfather" gift="a big hug"
title: What {hero} Found | The {thing} {spot.where} | Whose Is It?
request: {hero.a_kind} who finds {thing.bare} | {hero.a_kind} and {thing.bare} | {hero.a_kind} named {hero} who finds {thing.a} | {thing.a} that is lost and found | {hero.a_kind} who gives {thing.bare} back
lesson: What you find may be missed by somebody else. | Giving a thing back feels better than keeping it.
ask: What did {hero} find? => {hero.He} found {thing.a}.
ask: Who found {thing.the}? => {hero} the {hero.kind} found it.
ask: Where was {thing.the}? => It was {spot.where}.
ask: Whose was it? => It belonged to {owner.who}.
ask: Who said that somebody might be looking for it? => {friend} the {friend.kind} said it.
ask: What did {hero} get for it? => {hero.He} got {owner.gift}.
begin
= The little {hero.kind} was called {hero}. One morning {hero.he} went {place.to} all alone, just to see what was new.
= There was once {hero.a_kind} named {hero} who always looked at the ground. "You never know," {hero.he} said, and went {place.to}.
= One fine day, {hero.a_kind} named {hero} was walking {place.at}, humming a tune with only two notes.
--
= There, {spot.where}, lay {thing.a}.
= And what was that, {spot.where}? It was {thing.a}!
= {hero} stopped. Something was lying {spot.where}. {hero.He} bent down and saw {thing.a}.
--
= "It is mine now," said {hero}, and {hero.he} turned it over and over.
= {hero} picked it up. It was just right. "I will keep you," {hero.he} told it.
= "What luck!" cried {hero}. {hero.He} held it up to the light and laughed.
--
= On the way home {hero.he} met {friend}, {friend.a_kind}. "Look what I have," said {hero}.
= Just then came {friend.a_kind} named {friend}. {hero} showed {friend.him} {thing.the} proudly.
= {friend}, {friend.a_kind} who lived nearby, came to see. "It is lovely," said {friend}.
--
= "But somebody may be looking for it," said {friend}. {hero} had not thought of that.
= {friend} looked at it for a long time. "Somebody may be looking for it," {friend.he} said quietly.
= "Somebody may be looking for it and crying," said {friend}. {hero} stopped smiling.
--
= {hero} wanted to say no. But {thing.the} felt heavier with every step.
= All at once, {thing.the} did not feel quite so fine anymore.
= {hero} thought about it all the way to the gate. Then {hero.he} sighed.
--
= "Let us ask around," said {hero} at last. They asked at every door.
= So they sat down {place.at} and waited, with {thing.the} between them.
= They went back to where it had been, {spot.where}, and looked about.
--
= Before long, along came {owner.who}, who was looking at the ground. "Is this yours?" asked {hero}.
= Then they saw {owner.who}, searching left and right. {hero} held out {thing.the}.
= In the evening came {owner.who}. "Have you seen {thing.bare}?" came the question. {hero} nodded.
--
= And so it was: {owner.has}. {hero} put it gently into two glad hands.
= It was true, {owner.has}. "I thought that I would never see it again," {hero} was told.
= {hero} gave it back at once, and heard the story: {owner.has}.
--
= For thanks {hero} got {owner.gift}. "I found something better," {hero.he} told {friend} on the way home.
= "You are a good {hero.kind}," {hero} was told, and was given {owner.gift}. {friend} was almost as proud as {hero.he} was.
= {hero} went home without {thing.the}, but with {owner.gift}, and with a light heart.
end

# id: h-loses-a-thing
weight 3
cast hero any
cast friend animal
pick thing any
pick place outdoor
row where: first="under the bed" second="behind the stove" end="in {hero.his} own pocket" | first="in the garden" second="on the stairs" end="on top of {hero.his} own head" | first="behind the door" second="in the wood pile" end="in the bread basket" | first="in the tall grass" second="under the bench" end="in {friend}'s nest"
title: The Lost {thing} | {hero} Looks for the {thing} | Where Is It?
request: {hero.a_kind} who loses {thing.bare} | {hero.a_kind} who lost {thing.a} | {hero.a_kind} and {thing.bare} | {hero.a_kind} and {friend.a_kind} who look for {thing.bare} | a lost {thing}
lesson: Look near before you look far. | A friend with calm eyes sees more than one who worries.
ask: What did {hero} lose? => {hero.He} lost {thing.a}.
ask: Who lost {thing.the}? => {hero} the {hero.kind} lost it.
ask: Who helped {hero}? => {friend} the {friend.kind} helped {hero.him}.
ask: Where did {hero} look first? => {hero.He} looked {where.first}.
ask: Where was {thing.the}? => It was {where.end}.
ask: Who found {thing.the}? => {friend} found it.
begin
= {hero} the {hero.kind} had {thing.a} that {hero.he} loved more than pancakes.
= Once there was {hero.a_kind} named {hero}. Everybody knew {hero.his} {thing}, because {hero.he} never went anywhere without it.
= The little {hero.kind} {hero} had got {thing.a} for {hero.his} birthday.
--
= But one morning it was gone. "My {thing}!" cried {hero}.
= Then came a day when {hero} reached for it, and it was not there.
= On Tuesday, right after breakfast, {thing.the} had disappeared.
--
= {hero} looked {where.first}. There was only dust.
= First {hero.he} looked {where.first}, and found nothing but a spider.
= {where.first} was the first place where {hero} looked. It was not there.
--
= Then {hero.he} looked {where.second}. There was an old spoon, but no {thing}.
= Next {hero} searched {where.second}, twice. No {thing}.
= "Perhaps {where.second}," said {hero}. But it was not there, either.
-- 60
= {hero} ran all the way {place.to} and back, and looked under every stone.
= {hero.He} even went {place.to}, where {hero.he} had been the day before. It was not there.
= "Somebody must have taken it!" said {hero}, and looked angrily around.
--
= {hero.He} sat down on the step and cried a little.
= At last {hero} was so tired that {hero.he} lay down on the floor.
= "I will never find it," sighed {hero}, and two tears rolled down.
--
= {friend}, {friend.a_kind}, came by. "What are you looking for?" {friend.he} asked.
= That was when {friend.a_kind} named {friend} knocked at the door. "You look sad," said {friend}.
= Just then {friend} came around the corner. {friend.He} was {friend.a_kind} with very calm eyes.
--
= {hero} told {friend.him} everything. "When did you have it last?" asked {friend}.
= "I have lost my {thing}," said {hero}. "Tell me slowly what you did today," said {friend}.
= "Do not run about," said {friend}. "Stand still and think."
--
= {hero} thought. And while {hero.he} was thinking, {friend} began to smile. {thing.The} was {where.end}!
= {friend} walked around {hero} once, and then {friend.he} laughed. "It is {where.end}," {friend.he} said.
= Then {friend} saw something. There it was, {where.end}.
--
= {hero} turned red. "I looked everywhere but there," {hero.he} said.
= {hero} laughed so hard that {hero.he} had to sit down again. "It was so near!" {hero.he} said.
= "Oh!" said {hero}. "It was with me all the time."
--
= They shared a cup of tea, and {thing.the} stood on the table between them.
= That night {thing.the} lay beside {hero.his} pillow, and {hero} slept well.
= Now, whenever something is lost, {hero} asks {friend} first.
end

# id: h-mends-a-thing
weight 3
cast hero any
cast helper grownup
pick thing any
row crack: what="fell down the stairs" need="glue and a piece of string" days="three" | what="was stepped on by a cow" need="a hammer and four nails" days="two" | what="was left out in the rain" need="a dry cloth and some wax" days="five" | what="rolled off the table" need="needle and thread" days="four"
title: As Good as New | {hero} and the Broken {thing} | The Mended {thing}
request: {hero.a_kind} who breaks {thing.bare} | {hero.a_kind} who repairs {thing.bare} | {hero.a_kind} and a broken {thing} | {hero.a_kind} who mends {thing.a} | {hero.a_kind} and {thing.bare}
lesson: What is broken can often be mended, if you take your time. | It is brave to say what you have done.
ask: What broke? => {thing.The} broke.
ask: Whose was {thing.the}? => It belonged to {helper}.
ask: How did {thing.the} break? => It {crack.what}.
ask: What did they need to mend it? => They needed {crack.need}.
ask: How many days did it take? => It took {crack.days} days.
ask: Who helped {hero}? => {helper} the {helper.kind} helped {hero.him}.
begin
= {helper} the {helper.kind} owned {thing.a}, and sometimes {hero}, {hero.a_kind}, was allowed to hold it.
= A young {hero.kind} named {hero} was visiting {helper}, {helper.a_kind}. On the shelf there was {thing.a}.
= The little {hero.kind} {hero} often went to see {helper}, {helper.a_kind} who had {thing.a}.
--
= "Please be careful with it," said {helper}. And {hero} meant to be.
= "You may look at it while I am away," said {helper}, "but take good care."
= {hero} promised to be careful, and {hero.he} was, for a whole hour.
--
= But then {thing.the} {crack.what}. There was an ugly sound.
= Then it happened. In one moment, {thing.the} {crack.what}.
= {hero} only looked away for a second, and {thing.the} {crack.what}.
--
= {hero} stared. {thing.The} was broken, and nobody had seen it.
= There it lay, in two pieces. {hero} felt hot and cold.
= "Oh no," whispered {hero}. {thing.The} was not whole anymore.
--
= {hero.He} thought of hiding it. {hero.He} thought of saying that the wind had done it.
= For a while {hero.he} hid it under a cushion, but the cushion looked at {hero.him}.
= "I could run away," thought {hero}. But {hero.his} feet did not want to.
--
= When {helper} came home, {hero} said, "I broke it. I am sorry."
= At last {hero} went to {helper} and held out the pieces. "It was me," {hero.he} said.
= "I have something bad to tell you," said {hero}, and told {helper} everything.
--
= {helper} was quiet for a moment. "Thank you for telling me," {helper.he} said.
= {helper} sighed. Then {helper.he} patted {hero} on the head. "That was brave," {helper.he} said.
= "I am sad about it," said {helper}, "but I am glad that you told me the truth."
--
= "Now we will mend it together. Bring me {crack.need}," said {helper}.
= "Let us see," said {helper}. "We need {crack.need}."
= They looked for {crack.need}, and sat down at the table.
--
= It took {crack.days} days. {hero} learned to be patient.
= They worked for {crack.days} days, a little every evening.
= "Slowly," said {helper}. For {crack.days} days they worked, side by side.
--
= In the end you could hardly see where it had been broken. "I like it even better now," said {helper}, "because you made it with me."
= Then {thing.the} was whole again. It had one small scar. "That is where our story is," said {helper}.
= {helper} put {thing.the} back on the shelf. "As good as new," {helper.he} said, "and you are better than new."
end

# id: h-shares-a-thing
weight 3
cast hero any
cast friend animal
pick thing toy
pick place outdoor
row day: when="on Monday" weather="the sun was shining" | when="on Wednesday" weather="a soft wind was blowing" | when="on Friday" weather="white clouds sailed by" | when="on Sunday" weather="the birds were singing"
row game: name="a race to the gate" | name="hide and seek" | name="a ship on a wild sea" | name="a journey around the world" | name="a circus with two stars"
title: One {thing} for Two | {hero} Learns to Share | Your Turn
request: {hero.a_kind} who does not want to share {thing.bare} | {hero.a_kind} who learns to share | {hero.a_kind} and {friend.a_kind} who share {thing.bare} | {hero.a_kind} and {thing.bare} | {hero.a_kind}, {friend.a_kind} and {thing.a}
lesson: Games are better when you share. | Two can have more fun with one thing than one alone.
ask: What did {hero} have? => {hero.He} had {thing.a}.
ask: Who wanted to play with {hero}? => {friend} the {friend.kind} wanted to play.
ask: When did they meet? => They met {day.when}.
ask: What did they play at the end? => They played {game.name}.
ask: Why was {hero} bored? => Because {hero.he} played all alone.
begin
= {hero}, {hero.a_kind}, had {thing.a}. It was new, and it was {hero.his} very own.
= The little {hero.kind} {hero} got {thing.a} from an aunt who lived far away.
= Nobody had a finer {thing} than {hero} the {hero.kind}. It was {thing.a}.
--
= {day.when}, {hero} took it {place.to}. {day.weather}.
= So {day.when} {hero.he} carried it {place.to}. {day.weather}, and {hero} was happy.
= {hero} went {place.to} with it {day.when}, because {day.weather}.
--
= There was {friend}, {friend.a_kind}. "May I play, too?" asked {friend}.
= {friend.A_kind} named {friend} was there already. "What a lovely {thing}!" said {friend}. "May I try it?"
= {friend}, {friend.a_kind} with nothing to do, came closer. "Can we play together?" {friend.he} asked.
--
= "No," said {hero}. "It is mine."
= {hero} held {thing.the} tight. "You would only break it," {hero.he} said.
= "Not now," said {hero}, and turned {hero.his} back.
--
= {friend} nodded sadly and sat down under a tree.
= "All right," said {friend} in a small voice, and went away a few steps.
= {friend} did not say a word. {friend.He} drew circles in the dust.
--
= {hero} played alone. It was fun for a while. Then it was not.
= {hero} played all alone, and soon {hero.he} was bored. There was nobody to laugh with.
= So {hero} played alone. "Look at this!" {hero.he} called. But nobody looked.
--
= {hero.He} looked at {friend}, and {friend} looked at the ground.
= {hero} felt strange inside, as if {hero.he} had swallowed a stone.
= "It is too quiet here," thought {hero}.
--
= At last {hero.he} went over. "You can have the first turn," {hero.he} said.
= "Would you like a turn?" asked {hero}. {friend}'s face lit up.
= {hero} held out {thing.the}. "Your turn," {hero.he} said softly.
--
= {friend} had a wonderful idea. With {thing.the} they played {game.name}.
= "I know a game for two," said {friend}. And they played {game.name}.
= Together they thought of something new: {game.name}!
--
= They laughed until it was dark. "Same time tomorrow?" asked {hero}. "Same time tomorrow," said {friend}.
= "Why did I not share it before?" said {hero}. {friend} only laughed.
= When they went home, {hero} let {friend} carry {thing.the}. And nobody said "mine" that day anymore.
end

# id: h-lantern-in-the-dark
weight 3
cast hero animal
cast friend animal
pick place wild
row light: what="lantern" a="an old lantern" shine="a round golden light" | what="lantern" a="a small paper lantern" shine="a soft red light" | what="lantern" a="a lantern with a green glass" shine="a green light like the sea" | what="lamp" a="a little oil lamp" shine="a warm yellow light" | what="candle" a="a thick white candle" shine="a light that danced" | what="torch" a="a tall torch" shine="a bright, crackling light" | what="lantern" a="a rusty lantern" shine="a steady white light"
row fear: noise="a deep growl" was="{friend}'s empty belly" | noise="a scratching sound" was="a twig against a stone" | noise="a long howl" was="the wind in a hollow tree" | noise="a splash" was="a fish that could not sleep"
title: The {light.what} in the Dark | {hero}'s {light.what} | A Light for {friend}
request: {hero.a_kind} and a {light.what} | {hero.a_kind} with {light.a} | {hero.a_kind} who carries a {light.what} through the dark | {hero.a_kind} who is afraid of the dark | {hero.a_kind} named {hero} and a {light.what} | {hero.a_kind}, {friend.a_kind} and a {light.what}
lesson: A small light is enough if you share it. | You are braver when somebody needs you.
ask: What did {hero} have? => {hero.He} had {light.a}.
ask: Who was lost? => {friend} the {friend.kind} was lost.
ask: Where was {friend}? => {friend.He} was {place.at}.
ask: What did they hear in the dark? => They heard {fear.noise}.
ask: What was the noise? => It was {fear.was}.
ask: What was {hero} afraid of? => {hero.He} was afraid of the dark.
ask: Who found {friend}? => {hero} the {hero.kind} found {friend.him}.
begin
= {hero} was a small {hero.kind} who was afraid of the dark. So every evening {hero.he} lit {light.a}.
= Once there was {hero.a_kind} named {hero} who owned {light.a}. {hero.He} was afraid of the dark, and never went out without it.
= The little {hero.kind} {hero} did not like the night. It was good that {hero.he} had {light.a}.
--
= It gave {light.shine}, just enough for one small room.
= It made {light.shine} on the wall, and {hero} felt safe.
= In {light.shine}, even the shadows looked friendly.
--
= One night there was a knock. It was {friend}'s mother. "{friend} has not come home!" she cried.
= One evening, an owl brought news: {friend}, {friend.a_kind}, was lost {place.at}.
= Then, on a night without a moon, {hero} heard somebody call for help, far away.
--
= "{friend} the {friend.kind} is out there, all alone," thought {hero}. "And {friend.he} has no light."
= {hero} knew {friend}, {friend.a_kind} who lived next door. {friend.He} had to be very frightened.
= It was the voice of {friend}, {friend.a_kind} whom {hero} knew well.
--
= {hero.His} knees shook. But {hero.he} took the {light.what} and went out.
= {hero} looked at the dark. The dark looked back. Then {hero.he} lifted the {light.what} and went.
= "I am afraid," said {hero} to the {light.what}. "But we have to go."
--
= {hero.He} went {place.to}, step by step. The {light.what} swung to and fro.
= The way {place.to} was long. With every step {light.shine} ran ahead of {hero.him}.
= Soon {hero.he} came {place.to}. "{friend}!" {hero.he} called. "Can you see my light?"
--
= "Here!" cried a thin voice. There sat {friend}, cold and wet. "I saw your {light.what} from far away," {friend.he} said.
= And there, {place.at}, sat {friend} with big eyes. "I knew that somebody would come," {friend.he} said.
= Something moved. It was {friend}! {friend.He} ran to {hero} and held on to {hero.him}.
--
= Suddenly they heard {fear.noise}. {friend} hid behind {hero}.
= Then there was {fear.noise}. They both stood as still as stones.
= On the way back, {fear.noise} came out of the dark.
--
= {hero} held up the {light.what} and looked. It was only {fear.was}.
= "Let us look," said {hero}, because {hero.he} had to be brave for two. And it was only {fear.was}!
= {hero} lifted the {light.what} high. There was no monster. It was {fear.was}.
--
= They laughed all the way home. The light was small, but it was enough for two.
= When they came home, everyone hugged them. "Were you not afraid of the dark?" they asked. "I forgot," said {hero}.
= Since then, {hero} puts the {light.what} in the window every night, so that nobody has to be lost.
end
