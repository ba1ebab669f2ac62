# id: h-learns-music
weight 3
cast hero any
cast teacher animal
pick music music
row sound: like="a cat with a cold" fled="the sparrows" | like="a rusty gate" fled="the mice" | like="a goose in a bucket" fled="the neighbors" | like="a kettle that has lost its lid" fled="the bees"
row tune: name="a song about the rain" weeks="three" | name="a slow and sleepy waltz" weeks="six" | name="a march for ants" weeks="two" | name="a song about the morning star" weeks="five"
title: {hero} Learns the {music} | The First Song | A Little Every Day
request: {hero.a_kind} who learns to play {music.the} | {hero.a_kind} and {music.bare} | {hero.a_kind} who wants to make music | {hero.a_kind} who practices {music.the} | {hero.a_kind} with {music.a}
lesson: A little practice every day goes a long way. | Nobody is good at the beginning.
ask: What did {hero} learn to play? => {hero.He} learned to play {music.the}.
ask: Who taught {hero}? => {teacher} the {teacher.kind} taught {hero.him}.
ask: What did it sound like at first? => It sounded like {sound.like}.
ask: How many weeks did {hero} practice? => {hero.He} practiced for {tune.weeks} weeks.
ask: What did {hero} play in the end? => {hero.He} played {tune.name}.
ask: Who ran away? => {sound.Fled} ran away.
begin
= {hero}, {hero.a_kind}, found {music.a} in a box by the road. "I am going to be a musician," said {hero}.
= The little {hero.kind} {hero} wanted to make music more than anything. One day {hero.he} was given {music.a}.
= There was once {hero.a_kind} named {hero} who got {music.a} from {hero.his} grandmother.
--
= {hero} began to play at once. It sounded like {sound.like}.
= {hero.He} took a deep breath and played. It sounded just like {sound.like}.
= But the first sound was terrible. It was like {sound.like}.
--
= {sound.Fled} ran away and did not come back all day.
= "Help!" cried {sound.fled}, and ran away.
= When {sound.fled} heard it, they ran away as fast as they could.
--
= {hero} put {music.the} down. "I am no good at this," {hero.he} said.
= "Maybe I am too silly for music," said {hero} sadly.
= {hero} wanted to throw {music.the} into the pond.
--
= "Everybody starts like that," said a voice. It was {teacher}, {teacher.a_kind} who had played for many years.
= Then {teacher} came along, {teacher.a_kind} with a good ear. "Shall I show you how?" asked {teacher}.
= {teacher.A_kind} named {teacher} had been listening. "I sounded worse than you," said {teacher}, "when I began."
--
= {teacher} showed {hero.him} one note. Only one. "Come back when you like it," {teacher.he} said.
= "First we learn one note," said {teacher}. "Tomorrow we will learn the next."
= So {teacher} taught {hero.him} a single note, long and soft.
--
= {hero} practiced every day, a little in the morning and a little at night.
= Every evening {hero} played behind the barn, where only the cows could hear.
= Day after day {hero} played {hero.his} notes, first two, then three, then five.
-- 60
= Some days it went well, and some days it did not. {hero} went on.
= Once {hero.he} almost gave up. But {teacher} only said, "One more time."
= {hero.His} lips were sore and {hero.his} head was full of notes.
--
= After {tune.weeks} weeks, {hero} could play {tune.name}.
= {tune.weeks} weeks went by. Then, one evening, it was a song: {tune.name}!
= It took {tune.weeks} weeks, and then {hero} played {tune.name} from beginning to end.
--
= A window opened, and then another. Even {sound.fled} came back to listen.
= Softly, {sound.fled} came nearer, and nobody ran away.
= {sound.Fled} sat down in a row and did not move until it was over.
--
= "Was that you?" they asked. "That was me," said {hero}, "and {teacher}, and a lot of evenings."
= {teacher} wiped {teacher.his} eyes. "Now you can teach somebody else," {teacher.he} said.
= {hero} took a bow. "I know two mistakes by heart," {hero.he} said, "but the rest is right."
end

# id: h-builds-a-bridge
weight 3
cast hero any
cast friend animal
pick tool tool
row water: what="stream" over="the school" | what="brook" over="the berry bushes" | what="river" over="the market" | what="ditch" over="{friend}'s house"
row first: of="paper" end="it got wet and fell apart" | of="sand" end="the water carried it off" | of="twigs" end="it broke with a crack" | of="ice" end="it melted at noon"
row best: of="stones" by="the turtles" | of="logs" by="the beavers" | of="planks" by="the ducks" | of="an old door" by="the ants"
title: {hero} Builds a Bridge | The Bridge over the {water.what} | Over the Water
request: {hero.a_kind} who builds a bridge | {hero.a_kind} and a bridge | a bridge over a {water.what} | {hero.a_kind} and {friend.a_kind} who build a bridge | {hero.a_kind} with {tool.a} who builds something
lesson: If it does not work, try another way. | What you build for a friend is good for many.
ask: What did {hero} build? => {hero.He} built a bridge.
ask: What was the first bridge made of? => It was made of {first.of}.
ask: What happened to the first bridge? => {first.End}.
ask: What was the last bridge made of? => It was made of {best.of}.
ask: Why did {hero} build it? => {hero.He} built it because {friend} lived on the other side.
ask: Who lived on the other side? => {friend} the {friend.kind} lived there.
ask: Who came over the bridge first? => {best.By} came over it first.
begin
= {hero} the {hero.kind} lived on one side of a {water.what}. On the other side lived {friend}, {friend.a_kind}.
= There was a {water.what}, and on each side of it there was a house. In one lived {hero}, {hero.a_kind}, in the other {friend}, {friend.a_kind}.
= The little {hero.kind} {hero} had a friend, {friend.a_kind} named {friend}. But between them was a {water.what}.
--
= Every day they waved to each other. They could not hear a word, because the water was so loud.
= They shouted across, but the water was louder.
= "Come over!" called {hero}. "I cannot swim!" called {friend}.
--
= "I will build a bridge," said {hero}. {hero.He} fetched {tool.a} and rolled up {hero.his} sleeves.
= One morning {hero} took {tool.a} and went to the water. "Today I will build a bridge," {hero.he} said.
= "A bridge is what we need," thought {hero}, and went to get {tool.a}.
--
= The first bridge was made of {first.of}. But {first.end}.
= {hero.He} made the first one of {first.of}. It looked fine, but {first.end}.
= {first.Of} was what {hero} tried first. Alas, {first.end}.
--
= {hero} sat on the bank with wet feet. {friend} waved from the other side. So {hero} stood up again.
= "That did not work," said {hero}. "But now I know one way that does not."
= {hero.He} wanted to go home. Then {hero.he} saw how {friend} was waiting, and {hero.he} stayed.
--
= {hero.He} looked around and saw {best.of}. "Those are strong," {hero.he} said.
= Then {hero.he} thought of {best.of}. Nobody needed them anymore.
= By the road {hero.he} found {best.of}. They were heavy. That was good.
--
= All day {hero} worked with {tool.the}. On the other side, {friend} began to work, too.
= {hero} pushed from one side, and {friend} pulled from the other.
= It was hard work. {tool.The} helped, and so did a song.
--
= In the evening, the two ends met in the middle. And there they met, too, {hero} and {friend}.
= At last the bridge of {best.of} was done. {hero} and {friend} stood on it, and it held.
= {hero} put {hero.his} foot on the bridge of {best.of}. It did not shake. {friend} ran to meet {hero.him}.
--
= The first to cross it were {best.by}. They did not even say hello.
= Then came {best.by}, all in a line, and walked over it as if it had always been there.
= Before they could try it out, {best.by} marched across.
--
= Now everyone could go to {water.over} without getting wet. But it was built for a visit.
= From then on, they drank their tea in the middle, with their feet above the water.
= "It is the best bridge in the world," said {friend}, "because you are at the other end."
end

# id: h-birthday
weight 3
cast hero any
cast friend animal
pick gift any
pick food food
row why: that="they were all whispering" sign="flour on {friend}'s nose" | that="nobody had time to play" sign="a ribbon sticking out of a drawer" | that="the door was locked" sign="a candle that rolled over the floor" | that="they all said that they were busy" sign="colored paper in the hedge"
row guests: n="five" | n="seven" | n="nine" | n="twelve"
title: {hero}'s Birthday | The Forgotten Birthday | A Surprise for {hero}
request: {hero.a_kind} who has a birthday | {hero.a_kind}'s birthday | a birthday party for {hero.a_kind} | {hero.a_kind} who gets {gift.bare} for {hero.his} birthday | a surprise | {hero.a_kind} and {gift.bare}
lesson: Friends do not forget. They may only be busy with a surprise. | Wait before you feel forgotten.
ask: Whose birthday was it? => It was {hero}'s birthday.
ask: What did {hero} get? => {hero.He} got {gift.a}.
ask: What was there to eat? => There was {food.a}.
ask: How many guests came? => {guests.n} guests came.
ask: Why was {hero} sad? => {hero.He} thought that everyone had forgotten {hero.his} birthday.
ask: Who gave {hero} the {gift}? => {friend} the {friend.kind} gave it to {hero.him}.
begin
= It was {hero}'s birthday. {hero} was {hero.a_kind} who had counted the days for a whole month.
= The little {hero.kind} {hero} woke up early, because it was {hero.his} birthday.
= {hero} the {hero.kind} jumped out of bed. "Today is my birthday!" {hero.he} sang.
--
= But at breakfast nobody said a word about it.
= {hero.He} ran outside. Nobody said, "Happy birthday."
= {hero.He} waited for somebody to remember. Nobody did.
--
= {hero} went to see {friend}, {friend.a_kind}. But {why.that}.
= "{friend} will know," thought {hero}. {friend} was {friend.a_kind} and {hero.his} best friend. But {why.that}.
= At the house of {friend}, {friend.a_kind}, it was very strange: {why.that}.
--
= "Not now," said {friend}, and shut the door.
= "Come back later," called {friend}. "Much later!"
= "I am sorry," said {friend}, "I have no time today."
--
= {hero} walked away slowly. "They have all forgotten it," {hero.he} thought.
= {hero} sat down on a stone. A birthday alone is a long day.
= {hero.His} ears hung down. "I will sing for myself," {hero.he} said. But {hero.he} did not feel like singing.
--
= Then {hero} noticed something: {why.sign}. How odd!
= On the way home {hero.he} saw {why.sign}. {hero} began to wonder.
= There was {why.sign}. "What can that mean?" thought {hero}.
--
= In the evening, {hero} opened {hero.his} own door. It was dark. Then, all at once, it was bright!
= When it grew dark, {friend} came and took {hero.him} by the hand. "Close your eyes," {friend.he} said.
= Then somebody called {hero.his} name. {hero} ran around the corner and stopped.
--
= "Surprise!" cried {guests.n} voices. There were {guests.n} guests, and all of them wore paper hats.
= There stood {guests.n} guests, and every one of them was laughing. "Surprise!" they shouted.
= {guests.n} guests jumped up from behind the table. "Happy birthday, {hero}!"
--
= On the table was {food.a} with candles all around it.
= "We made {food.a}," said {friend}. "It took us all day."
= There was {food.a}, so big that it had needed four to carry it.
--
= And {friend} gave {hero.him} {gift.a}. It was just what {hero.he} had wished for.
= {friend} held out a parcel. In it was {gift.a}. {hero} did not know what to say.
= "This is from me," said {friend}. {hero} pulled the ribbon, and there was {gift.a}.
--
= "And I thought that you had forgotten me," said {hero}. "You?" said {friend}. "Never."
= They danced until the candles were short. It was the best birthday of all.
= That night, {hero} lay awake and smiled at the ceiling. It had not been a long day at all.
end

# id: h-race
weight 3
cast hero animal
cast rival animal
pick prize treasure
row way: start="the old mill" goal="the big oak" | start="the well" goal="the church" | start="the garden gate" goal="the pond" | start="the barn" goal="the top of the hill"
row trouble: who="a beetle on its back" did="turned it over" later="showed {hero.him} a secret path" | who="an old mole who had lost her way" did="took her home" later="let {hero.him} run through her tunnel" | who="a bird in a net" did="cut the net" later="carried {hero.him} over the wall" | who="a tiny frog in a dry ditch" did="carried it to the water" later="pushed {hero.him} across the pond on a leaf"
title: The Great Race | {hero} Runs a Race | Who Won?
request: a race between {hero.a_kind} and {rival.a_kind} | {hero.a_kind} who runs in a race | {hero.a_kind} and {rival.a_kind} | a race for {prize.a} | {hero.a_kind} who wins a race
lesson: Time for a kind deed is never lost. | The one who helps is helped.
ask: Who won the race? => {hero} the {hero.kind} won it.
ask: Who lost the race? => {rival} the {rival.kind} lost it.
ask: Where did the race start? => It started at {way.start}.
ask: Where did the race end? => It ended at {way.goal}.
ask: What was the prize? => The prize was {prize.a}.
ask: Whom did {hero} help? => {hero.He} helped {trouble.who}.
begin
= "I am the fastest of all," said {rival}, {rival.a_kind} with long legs. "Nobody can beat me." {hero}, a small {hero.kind}, heard it.
= {rival} was {rival.a_kind} and very proud. One day {rival.he} met {hero}, {hero.a_kind} who did not look fast at all.
= Once {hero.a_kind} named {hero} and {rival.a_kind} named {rival} quarreled about who was faster.
--
= "Then let us have a race," said {hero}. All the animals came to watch.
= "We shall see," said {hero}. And so a race was held.
= "Let us run," said {hero}. {rival} laughed so hard that {rival.he} had to sit down.
--
= It went from {way.start} to {way.goal}. The prize was {prize.a}.
= The winner would get {prize.a}. They would run from {way.start} to {way.goal}.
= "From {way.start} to {way.goal}," said the owl, "and the winner gets {prize.a}."
--
= "One, two, three, go!" Off they ran. {rival} was soon far ahead.
= The owl dropped a leaf, and they were off. After ten steps {hero} saw only {rival}'s dust.
= Whoosh, went {rival}, and was gone. {hero} ran as well as {hero.he} could.
--
= Halfway, {hero} saw {trouble.who}. {rival} had run right past.
= Then {hero} heard a small voice. By the road was {trouble.who}. {rival} had not stopped.
= Behind a bush there was {trouble.who}. "Please help me!" {rival} had been too fast to hear it.
--
= {hero} thought of the prize. Then {hero.he} stopped and {trouble.did}.
= "Oh dear, the race," said {hero}. But {hero.he} {trouble.did} all the same.
= {hero} did not think twice. {hero.He} {trouble.did}.
--
= "Now you will lose because of me," said a sad voice. "Perhaps," said {hero}, "but I could not leave you here."
= "Thank you," {hero} heard. "Nobody else stopped."
= "Why did you stop?" {hero} was asked. "Because you called," {hero.he} said.
--
= And guess who helped now: {trouble.who} {trouble.later}!
= But a kind deed comes back. Out of thanks, {trouble.who} {trouble.later}.
= "I know how to thank you," {hero} was told. And {trouble.who} {trouble.later}.
--
= Meanwhile, {rival} was so sure of winning that {rival.he} stopped to comb {rival.his} hair.
= {rival} had sat down in the shade to think about where to put the prize.
= {rival} looked back, saw nobody, and slowed down to a walk.
--
= So when {rival} came to {way.goal}, there stood {hero}, waiting for {rival.him}.
= {hero} reached {way.goal} first, by the tip of a nose. {rival} could not believe it.
= "Hello, {rival}," said {hero} at {way.goal}. {rival} opened {rival.his} mouth and shut it again.
--
= {hero} got {prize.the} and gave half the credit to {trouble.who}.
= The owl gave {hero} {prize.the}. "How did you do it?" asked {rival}. "I stopped," said {hero}.
= Everyone cheered. And the next time somebody called for help, {rival} stopped, too.
end
