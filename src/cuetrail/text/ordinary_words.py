"""Ordinary English words, in lower case: verbs, nouns, and all others (adjectives, adverbs, participles).

A capital letter at the start of a sentence, a list item or a heading does not make one of them a name. The words are
the frequent ones of encyclopedia articles and chats, in the forms in which they occur. A word of several kinds is in
the list of its most frequent one.
"""

from __future__ import annotations

_VERBS = """
    abolish absorb abstract abuse accelerate accept accepts acclaim acclimate accommodate accompany accomplish
    accumulate achieve achieves acknowledge acquire act activate acts adapt address addresses adds adhere
    adheres adjust adjusts administer admire admit adopt advance advances adventure adventures affect affects
    afford agree agrees aim aims align aligns alleviate allocate allow allows alter alternate amend amplify
    analyze analyzes angle angles annotate announce answers anticipate apologize appeal appeals appear appears
    append applies apply appoint appoints appraise appreciate appropriate approve argue argues arise arises
    arrange arrest arrive arrives articulate asks assemble assert assess assign assist assists assume assumes
    attach attend attract attracts automate avoid avoids await back bake bandages bark batter bear bears beat
    beats become becomes bees beetle beetles begin begins behave believe believes belong belongs bend bid bids
    bind blame blast blockade blocks blow blur boasts boil boost boosts borrow bounce break breakfast breakfasts
    breaks breathe breeds brew brighten brings broadcast broadcasts broaden browse bubble bubbles build builds
    bump bumps bundle bundles buoys burn burst bursts bust butterfly buy buys buzz calculate call calls calm
    calves cancel cannot canton capitalize capture captures caramelize carries carry cast casts catch catches
    categorize cater cave caves cease celebrate celebrates charge charges charter charters check checks cherish
    choose chooses chop chrome circulate clamp clarify classify clear click clicks climb climbs close clothes
    cloud clumps cluster clusters coal coexist coin coincide coins collaborate collaborates collapse collect
    combine combines come comes commemorate commemorates commit commits communicate commute commutes compact
    compare compares compensate compete competes compile complete completes comply compose compound compounds
    compress comprise comprises compromise compute concentrate concert concerts conclude concludes conduct
    conducts configure confirm conform confront connect connects conquer conserve consider considers consist
    consists consolidate consort constitute constitutes construct consult consume contain contains continue
    continues contract contracts contribute contributes converge convert converts convey conveys convince cook
    cooperate coordinate coordinates correct correspond corresponds count counts cover covers crack cracks crash
    crashes cream creams create creates cross crosses crowd crowds cruise crunch crunches crush cultivate cure
    curl curls curry customize cut cuts damp deal deals debate debates debug debut decide decides declare
    declares decline decorate decree dedicate deepen defend define defines degrade delay delays delegate
    delegates delete delight deliver delivers delve delves demand demands demonstrate demonstrates deny departs
    depend depends depict depicts deploy deprecate derive derives descend descends describe describes desert
    deserts deserve deserves destroy detach detect deter determine determines detract develop develops diagnose
    diagnoses dice dies differ differentiate differs dig digest dilute dip direct directs disable disagree
    disallow disappear discharge disclose discover discovers dismiss dispatch dispense dispose disrupt dissolve
    dissolves distinguish distract distribute distributes ditch diversify divide divides divorce dominate
    dominates donate dos dot dots download downloads downs drag draw draws dress dresses drill drills drive
    drives drizzle drop drops drug drugs dub dump duplicate duplicates dust earn eat eats edit edits educate
    elaborate elect elevate eliminate embark embarks emerge emphasize emphasizes employ employs empower empties
    empty emulate enable enables encompasses encounter encounters encourage encourages enforce engage engages
    enhance enhances enjoy enjoys enrich enroll enrolls ensure ensures enter enters entice envision equal equals
    err establish establishes evaluate evaluates evoke evokes evolve evolves exacerbate examine examines exceeds
    exclude excludes excuse execute exhaust exhibit exhibits exist exists expand expands expect experience
    experiences expire explain explains exploit exploits explore explores export exports expose exposes express
    expresses extend extends extract extracts facilitate fade fail fails fall falls fan fans farm farms
    fascinate fear fears feather feathers feeds feel feels felt fence ferment ferry file files fill fills filter
    filters finalize find finds finger fingers fire fires firms fit fits fix fixes flame flee flex flick flies
    flip float floats flour flours fly follow follows forecast forecasts forget format formats foster found free
    freeze fret fries frost fry fuel fuels fund funds further gain gains gather gauge gauges generate generates
    gets gives glance glaze glazes glue goes govern grab graduate graduates grant grants gravel grind ground
    grow grows guarantee guarantees guess halt hamstrings handle handles hang happen happens harbor harness
    haves headline headlines heal hear help helps hesitate hide hire hires hit hits hold holds hook hooks hop
    hue hues hum hunger hunt hunts hurt hustle hymn hymns identifies identify ignore illustrate imagine imitate
    immerse impart implement implies imply impose impress improve improves inclines include includes incorporate
    incorporates indicate indicates indulge inform infuse inhabit inherit inhibit initialize initiate inject ink
    inquire inspect inspire inspires install institutes instruct integrate integrates inter interact intercept
    interfere intern interpolate interpret intersect intersects intervene interview interviews introduce
    introduces invade invest investigate investigates invite invoke involve involves isolate iterate jam jams
    jar jars jaw jockey jog join joins journey journeys judge judges jump jumps justify keeps kick kicks kill
    kills knock know knows knuckle label labels lace lag launch lay lean learn learns lease leave leaves lend
    lie lies lift lighten likes list listen lists lives locate lock locks look looks loosen lose loses lower
    lubricate lunch lunches mainline maintain maintains makes manage manages manifest manipulate manufacture
    manufactures map maps marks marries marry mash mask masks massage mature maximize means meditate meet meets
    meld melt memorize merge message messages migrate mingle minify minimize miss mist mitigate mix mixes mock
    moderate modify moisturize motivate motivates mounts move moves murder murders nail nails name names
    navigate navigates negotiate neutralize nod normalize notify nourish nurse nurses nurture observe obtain
    occupies occupy occur occurs offer offers offs omit opens operate operates opt optimize organize organizes
    originate originates ornaments outs overcome overcook overcrowd overdo overload overlooks overpower override
    oversee oversees overwhelm owns pack packs paddle paint paints pair pairs pan pans paragraph paragraphs
    parse participate participates pass passes patent pay pays peel peels penetrate perceive perform performs
    perpetuate persist persists personalize photograph photographs pick picks pioneer pioneers pitch plan plank
    planks plans plant plants play plays pledge plow pluck plump plunge podcast podcasts pop pops portray
    portrays ports pose poses possess possesses post posts pour predict prefer prefers premiere premise prepare
    prepares present presents preserve preserves press presses prevent prevents prioritize prioritizes proceeds
    process processes produce produces prohibits project projects promise promises promote promotes prompts
    propose proposes protect protects prove provide provides prune pry publish publishes pull pulls pump
    puncture purge purify pursue push put puts pyramid pyramids qualify quest quit quote quotes rack racks rag
    raid raids rail railroad railroads rails raise raises rake reach reaches react read reads realize realizes
    reassess rebase reboot rebuild recall recapture receive receives recharge recognise recognize recognizes
    recommend recommends reconcile recounts recover recreate recruit recycle redeem redirect redirects
    redistribute reduce reduces reef reefs refactor refer refers refine reflect reflects reform reforms refresh
    refrigerate refuel refuses regain regiment regiments registers regulate regulates reheat reinforce reinstall
    reissue reject relapse relate relates relax relies relieve reload relocate rely remain remains remember
    remind reminds remove removes rename render renders repair repairs repeat repeats repel replace replaces
    replay replenish represent represents reprise reprises request requests require requires rescue resemble
    resembles reset reside resides resign resist resize resolve resolves resonate resonates respond responds
    rest restart restore restrict resume retail retain retains retire retrieve return returns reunite reuse
    reveal reveals revise revisit revolt revolutionize revolve revolves rewrite rid ride rides rifle rifles rise
    rises rival rivals roll rolls rotate route routes rub run runs rush sail salt sandwich sandwiches sanitize
    satisfy sauce sauces save saves say says scalp scan scans scarf scatter scrub secure sediment seeds seek
    seeks seem seems sees seize selects sell sells send sends separate separates serialize serve serves set sets
    settle shake shakes shave shelves shift shifts shine ship ships shoot shoots shop shops shore shores show
    shows shuffles shut sieve simplify simulate sings sink sit sites sits skip slang slash smile sneak soak
    socialize soften solidify solve soothe speak speaks specialises specialize specializes specifies specify
    spell spells spend spends spies spills spin splash spoil sponge sponsor sponsors sprinkle spy squeeze
    stabilize start starts stay stays steal steals steam stew stews stick sticks stimulate stir storm storms
    streamline strengthen stretch stretches strike strikes strips struggle struggles stumble submarine
    submarines submit subscribe subtract suffer suggest suggests summarize summarizes supervise supplies supply
    suppress surf surround survey surveys survive survives suspect suspects sustain swap swaps sway swear sweep
    sweeps swim swings swipe symbolize symbolizes sync synchronize tailor tailors takes talk tap tax taxes taxi
    teach teaches tear tell tells tend tends tense terminate test testify tests think thinks thrash thread
    threatens thrill thrive throw throws tighten tips tire tires toe toes tolerate toss total totals touch
    touches trace traces trail trails train trains transfer transfers transform transforms transit translate
    translates travel travels tread treat treats tree trees trench tries trim triumph troubleshoot trumpet turn
    turns tweet tweets twigs twin twine twins uncover uncovers undergo understand understands undo uninstall
    unite unlock untar unwind unzip update updates upload ups urge utilize validate varies vary verify vet visa
    visit visits visualize volley volleys volunteer volunteers vows wait wake walk walks wanders want wants warn
    warns wash washes waste watch watches wax waxes wear wears weather weave weaves weigh weighs welcome whip
    whisk win wines wins wire wires wish wishes withdraw withstand wives work works worries worry worsen worship
    wrap wraps wrench wrenches wrinkles write writes yield yields zoom
"""

_OTHERS = """
    abandoned abandoning abbreviated abdicated able aboard abolished abrasive abroad abrupt absent absolute
    absolutely absorbed absorbing abstracted absurd abundant abusive academic academically acceptable accepted
    accepting accessed accessible accessing accidental accidentally acclaimed accompanied accompanying
    accomplished according accordingly accountable accounted accredited accumulated accumulating accurate
    accurately accused accustomed achievable achieved achieving acid acidic acknowledged acknowledging acquired
    acquiring acted acting actionable activated active actively actual actually acute adaptable adapted adapting
    adaptive added addictive adding additional additionally addressed addressing adequate adjacent adjoining
    adjustable adjusted adjusting administered administering administrative administratively admired admitted
    adopted adopting adoptive adorable adorned advanced advancing adventurous adverse advertised advised
    advocated advocating aerodynamic aesthetic aesthetically affected affecting affectionately affiliated
    affirmative affordable afraid afterward afterwards aged aggravated aggressive agile aging ago agreed
    agricultural ahead aided aimed aiming airborne airbrushing aired airing airtight airy alcoholic alias
    aligned alike alive alleged allegedly allergic allocated allocating allowed allowing almost alone alongside
    alphabetically alpine altered altering alternating alternative alternatively altogether amalgamated amassed
    amazed amazing ambient ambitious amended amphibious ample anaerobic analytics analyzed analyzing ancestral
    anchored angry animated annexed annotated announced announcing annoying annually anonymous answered
    answering anthropomorphic anticipated anticipating antiquarian antique anxious anymore anyway anywhere apart
    apocalyptic apparent apparently appealed appealing appeared appearing appended applicable applied applying
    appointed appraised appreciated approachable approached approaching appropriately approved approximate
    approximately aquatic arbitrary archaeological architectural archival archived arguably argued arguing arid
    arising aristocratic armed armored armoured aromatic aromatics arranged arranging arrested arrived arriving
    artificial artistic ascended ascending aside asked asking asleep aspiring assassinated assembled assembling
    asserted assessed assigned assigning assisted assisting associated assumed assuming astronomical athletic
    atmospheric atomic atop attached attaching attacked attacking attained attempted attempting attended
    attending attested attracted attracting attractive attributed auditioned auditory augmented authentic
    authenticated authored authoritarian authoritative authorized autobiographical autocomplete autogenerated
    autographed automated automatic automatically automating automotive autonomous auxiliary available average
    averaged averaging avid avoided avoiding awaiting awarded aware away awesome awkward backed backing
    backpacking backward backwards bacterial bad baked baking balanced balancing ballistic balsamic banking
    banned baptised baptized bare barely based basic bathing batted batting bearing beaten beating beautiful
    beautifully becoming bed bedding beforehand beginning behavioral believable believed believing belonged
    belonging bending beneficial besides besieged bespoke best bestowed beta biased biblical bicameral bidding
    big bigger biggest biking billed binaural binding biodegradable biographical biological biomedical birding
    biting bitter bizarre black blacklist blamed blended blending bloating blocked blocking blogging bloody
    blooming blowing blown blurred boarding boating bodied bodily boiled boiling bold bonding boneless booked
    booking boosting bordered bordering bored born borrowed bound bounded boxing brainstorming braking branched
    branching branded branding brave breaking breathing breathtaking breed brewed brewing brief briefly bright
    brighter brilliant bring bringing bristled brittle broad broadcasting broader broadly broke broken brown
    browned browning browsing brushing brutal bubonic budgeting building built bulky bundled bundling buried
    burned burning burnt bushy bustling busy buying cached caching calculated calculating called calling calming
    campaigned camping canceled cancelled cancelling canned canonical cant capable capped captained captivating
    captured capturing caramelized carbonated cardiac cardiovascular cared careful carefully caring carried
    carrying carved casting casual cataloging catastrophic catching catchy categorical categorized categorizing
    catering caused causing cautious ceased ceded celebrated celebrating celebratory celestial cellular centered
    central centralized centred centric certain certainly certified cervical chaired challenged challenging
    changed changing chaotic characterised characterized charged charging charismatic charitable charming
    charred charted chartered charting chasing chatting cheap cheaper cheapest checked checking cheering
    chemical chewing chewy chiefly childless chilled chilly chipped chipping choosing chopped choreographed
    chronic chronological cinematic circadian circular circulating cited citing civil clad claimed claiming
    classic classical classified clean cleaned cleaning cleanly cleared clearer clearing clearly clever clicked
    clicking climbing clinical clipping clockwise clogged closed closely closest closing clothing cloudy
    clumping clustering cluttered cluttering coached coaching coarse coarser coastal coated coded codified
    coding coeducational cognitive coherent cohesive coincided coined cold colder collaborated collaborating
    collaborative collapsed collected collecting collective collectively colloquial colloquially colonial
    colonized colored colorful coloring coloured combined combining comfortable comfortably comforting comic
    coming commanded commanding commemorated commemorating commenced commented commenting commercial
    commercially commissioned commissioning committed committing common commonly communal communicating
    commuting comparable comparative comparatively compared comparing compassionate compatible compelled
    compelling competed competing competitive competitively compiled compiling complementary completed
    completely completing compliant complicated complimentary composed composing composting comprehensive
    compressed comprised comprising compulsory computational computed conceived concentrated concentrating
    conceptual concerned concerning concise concluded concluding concrete concurrent concurrently condemned
    conditional conditioned conditioning conducive conducted conducting conferred confident confidently
    configured configuring confirmed confirming conflicting confronting confused confusing congratulatory
    congressional connected connecting conquered conquering conscious consecrated consecutive conservative
    conserving considerable considerably considerate considered considering consisted consistent consistently
    consisting consolidated constant constantly constituted constitutional constructed constructing constructive
    consulting consumed consuming contacting contained containing contaminated contemporary contested contiguous
    continent continental contingent continually continued continuing continuous continuously contracted
    contrasted contrasting contributed contributing contrived controlled controlling controversial convenient
    conventional conversational converted converting conveying convicted convinced convincing cooked cooking
    cool cooled cooling cooperative coordinated coordinating copied coping copying cordially cornering corporate
    correcting correctly corresponding corrupt cosmetic cosmic cosmopolitan costly coughing counseling counted
    counterclockwise counting countless coupled covered covering cozy cracking crafted crafting craving crazy
    creamy creasing created creating creative creatively creatives credible credited criminal crisp crisper
    crisping crispy critical critically criticised criticized crossed crossing crowded crowned crucial crude
    cruel crumbled crumbly crushed crushing crusty cryptic cubic culinary culminated culminating cultivated
    cultivating cultural culturally cured curious curling curly currently curved cushioned cushioning custom
    customary customized customizing cute cutting cyclical cycling daily dainty damaged damaging damping danced
    dancing dangerous dark darker dated dating daunting dead deadly dealing debated debating debugging debuted
    debuting decadent decaying deceased decent decided deciding decisive declared declaring declined declining
    decommissioned decorated decorating decorative decreased decreasing dedicated dedicating deemed deep deeper
    deepest deeply defeated defeating defended defending defensive defined defining definitely definitive
    defunct delayed delegating deleted deleting deliberate deliberately delicate delicious delighted delightful
    delivered delivering deluxe delving demanded demanding democratically demolished demonstrated demonstrating
    denied denominational dense densely denser dental departed departing depended dependent depending depicted
    depicting depleted deployed deploying deposed deprecated derived descendant descended descending described
    describing descriptive deserved designated designed designing desirable desired desperate destroyed
    destroying destructive detailed detailing detected determined determining detrimental devastating developed
    developing developmental devised devoted diabetic diagnosed diagnostic diced died differed different
    differently differing difficult digging digital digitally diluted dimensional diminished dining diplomatic
    dipped dipping directed directing directional directly dirty disabled disappeared disappointed disappointing
    disastrous disbanded discarded disclosed discontinued discounted discouraged discovered discovering discreet
    discretionary discussed discussing disliked dismissed dispatched dispensing dispersed displaced displayed
    displaying disposable disputed dissolved distant distilled distinct distinctive distinguished distinguishing
    distorted distracted distracting distressed distributed distributing disturbing diverse diversified
    diversifying divided dividing divine diving divorced docile doctoral doctrinal documentary documented
    documenting doesnt domestic domestically dominant dominated dominating donated donating dont doodling
    dormant double doubled doubling downloaded downloading downstream downtown drafted drained draining dramatic
    dramatically drastic drawing drawn dreamlike dreamy dressed dressing dribbling dried drifting drinking
    driven driving dropped dropping drumming dry drying dual dubbed dubbing due durable dwelling dying dynamic
    dynamically dynastic dystopian earlier earliest early earned earning earthly earthy easily eastern eastward
    easy eating ecclesiastical ecological economic economically edgy edited editing editorial educated
    educational effective effectively efficient efficiently elected electoral electric electrical
    electromagnetic electronic elegant elementary elevated eligible eliminated eliminating elsewhere elusive
    embarked embarking embedded embedding embodied embraced embracing embroiled emerged emerging emigrated
    eminent emotional emotionally emotive empathetic emphasized emphasizing employed employing empowered
    empowering enabled enabling enacted enclosed encoding encompassed encompassing encountered encouraged
    encouraging encrypted endangered ended endemic endless endometrial endorsed enduring energetic energized
    energizing enforced engaged engaging engineered engraved engraving enhanced enhancing enjoyable enjoyed
    enjoying enlarged enlightening enlisted enormous enough enriching enrolled enrolling enslaved ensuing
    ensured ensuring entered entering entertained entertaining enthusiastic entire entirely entitled
    entrepreneurial entrusted environmental environmentally epic eponymous equalled equally equipped equitable
    erected ergonomic erroneously erupted escalated escaped escaping especially essential essentially
    established establishing estimated etched etching eternal ethereal ethical ethnic evacuated evaluated
    evaluating evenly eventually ever everyday everything everywhere evident evocative evolutionary evolved
    evolving exact exactly exaggerated examined examining excavated exceed exceeded excellent exceptional
    excessive excessively exchanged excited exciting excluded excluding exclusive exclusively executable
    executed executing exercised exercising exhausted exhaustive exhibited exiled existed existent existing
    exotic expanded expanding expansive expected expecting expedited expelled expensive experienced experiencing
    experimental experimented experimenting expert expertly expired expiring explainable explained explaining
    explicit explicitly exploded exploited explored exploring explosive exported exposed exposing expressed
    expressing expressive exquisite extant extended extending extensive extensively external extinct extracted
    extracting extraordinary extreme extremely eyeing faced facilitated facilitating facing faded fading failed
    failing fair fairly faithful fallen falling false famed famous famously fantastic fantastical faq far
    farming farther fascinated fascinating fashionable fast faster fastest fat fatal fathered faulty favorable
    favored favorite favoured favourite feared feasible featured featuring federal feed feeding feeling female
    feminine fencing fermented fermenting fertile fertilizing festive feudal fewer fictional fictionalized
    fictitious fielded fielding fiercely fighting figurative filed filing filled filling filmed filming filtered
    filtering final finalized financed financial financially financing finding fine finely finest fingerless
    finicky finished finishing finite fired fireproof firing firm firsthand fiscal fitted fitting fixed fixing
    flaky flanked flat flavored flavorful fleeing flexible floating flooded flooding floral flourished flowing
    fluent fluffy fluid flying focal focused focusing folded folding followed following fond foraging forbidden
    forced forcibly forcing foreign foremost forensic forested forged forgiving forgotten formal formally
    formatted formatting formed formerly formidable forming formulated forth fortified forward fostering founded
    founding fragile fragmented fragrant framed framing fraternal fraudulent freed freeing freelancing freely
    freezing frequent frequently fresh freshest freshly fried friendly fronted frosting frozen fruiting fruity
    frustrated frustrating fueled fueling fulfilling full fully functional functioned functioning fundamental
    fundamentally funded funding fundraising funerary fungal funny furry futuristic fuzzy gained gaining
    gambling gamer gaming gardening garnered garnished gated gathered gathering gay geared general generally
    generated generating generative generic generous genetic genetically gentle gently genuine geographical
    geographically geometric geostationary getting gifted gifting giving glacial glad glazed glazing global
    globally glossy glowing gone good gorgeous governed governing governmental grabbing graded grading gradual
    gradually graduated graduating granted granting granular granulated graphic graphical grassroots grated
    grateful greasy great greater greatest greatly greeting grilled grilling gripping gritty grooming gross
    grossed grossing grounded grouped growing grown guaranteed guarding gubernatorial guessing guided guiding
    guilty haha hailed hailing halfway halved handed handheld handled handling handmade handwritten handy
    hanging happened happening happy hard hardcore harder harmful harmonious harsh harvested harvesting haunted
    haunting hazardous headed heading headlining headquartered healing healthier healthy heard heartfelt
    heartwarming hearty heated heating heavily heavy held helped helpful helping herbaceous herding hereditary
    heroic hesitant hidden hiding hierarchical higher highest highlighted highlighting highly hiking hilarious
    hired hiring historic historical historically hitting hmm holding hollow homemade honest honorary honored
    honoring honoured hoped hopeful hoping hopping horizontally horticultural hosted hostile hosting hot hourly
    housed hows huge human humanist humble humid humorous hungry hunting hydrated hydrating hydraulic
    hydroelectric iconic ideal ideally identical identified identifying ideological idiomatic idle ignored
    ignoring ill illegal illegitimate illuminated illustrated im imaginative imagined imagining immediate
    immediately immense immigrated immune immutable impacted impacting impeached imperial implemented
    implementing implicit implied important importantly imported importing imposed imposing impossible impressed
    impressive imprisoned improved improving improvised impulsive inaccurate inactive inadequate inadmissible
    inappropriate inaugurated inbound included including inclusive incoming incompetent incomplete inconsistent
    inconspicuous incorporated incorporating incorrect incorrectly increased increasing increasingly incredible
    incredibly incremental incumbent incurred indeed indefinitely independent independently indeterminate
    indexed indexing indicated indicating indigenous indirect indirectly individual individualized individually
    indoor indoors induced inducted indulgent industrial inexpensive infamous infected infectious inferred
    infested infinite inflammatory inflated influenced influencing influential informal informally informative
    informed infrequently infused infusing inhabited inhaling inherent inherited inheriting initially initiated
    injured inland inner innocent innovative insecticidal insensitive inserted inserting insisted inspecting
    inspirational inspired inspiring installed installing instantly instituted institutional instructed
    instructional instrumental insured insuring intact integral integrated integrating intellectual intelligent
    intended intense intensely intensive intentional intentionally interacted interacting interactive
    intercollegiate interconnected interdisciplinary interested interesting interior intermediate internal
    internally international internationally interpretable interpreted interpreting interracial interred
    interrupted interviewed intimate intimidating intricate intrigued intriguing introduced introducing
    introductory introspective intuitive invaded invading invalid invaluable invented inventive invested
    investigated investigating investigative investing invisible invited inviting invoicing invoked invoking
    involved involving irregular irrespective irritated isnt isolated issued issuing ive jerky jogging joined
    joining jointly judged judicial juicy jumped jumping juvenile kayaking keeping kept kicked kicking kidnapped
    kidnapping killed killing kind kinda knighted knocked knowing knowledgeable known kosher labeled labeling
    lacked lacking lactic laid landed landing large largely larger largest lasted lasting late lately lateral
    latest laughing launched launching lavish layered layering laying lazy leading leafy leaky leaning learned
    learning leased leaving legacy legal legally legendary legislative legitimate leisurely lending lengthy
    lesser letting leveraging levied liberal liberated liberating licensed licensing lifelike lifelong lifted
    lifting light lighthearted lighting lightly liked likely liking limited limiting linear lined lingering
    linguistic lining linked linking lint linting liquid listed listened listening listing lit literal literally
    literary little liturgical live lived lively living loaded lobbying local locally located locked locking
    logged logging logical logistical long longer longest looked looking loose loosely losing lost loud loved
    lovely loving low lowered lowest loyal lubricated lubricating lucky lucrative lukewarm lush luxurious lyric
    lyrical magical magnetic magnificent magnifying mainly maintained maintaining majestic major making male
    manageable managed managing manipulating manned manually manufactured manufacturing mapped mapping marched
    marching marginalized marinated marine maritime marked marketed marketing marking married marrying martial
    masculine mashed masked massive mastered masterful mastering matched matching material maternal mathematical
    matting maximizing mayoral mean meaning meaningful meantime measurable measured measuring meaty mechanical
    median medical medicinal medieval meeting mellow melodic melted melting memorable mental mentally mentioned
    mentioning mentoring merely merged merging messaging messy metaphysical micro midway migrated migrating mild
    milder militant military minced minded mindful mindless mineral minimal minimizing minor minted
    miscellaneous misleading missed missing misspelled mistakenly misting misty mixed mixing mobile mocking
    modal modeled modeling moderately modern modest modified modifying modular moist molecular monetary
    monitoring monthly moody moral morganatic mostly motivated motivating motivational mountainous mounted
    mounting movable moved moving multifaceted multinational mundane municipal murdered murdering muscular mushy
    musical muted mutual mutually mysterious mystical mythical mythological naive named namely naming narrated
    narrow narrowed narrower narrowly nationally nationwide native natural naturalistic naturally nautical naval
    navigable navigating nearby nearest nearing nearly neat necessarily necessary need needed needing negative
    negatively neglected negotiable negotiated negotiating neighboring neighbouring neo nervous nested nesting
    nestled networking neural neutral nevertheless newborn newer newest newly nice nicely nicer nicknamed
    nightly noble noisy nomadic nominal nominally nominated non nonetheless nonlinear nope normal normally
    northbound northeastern northern northernmost northward northwestern nostalgic notable notably noted
    noteworthy noticeable noticed noticing notified noting notorious nuclear null numbered numbering numeric
    numerical numerous nursing nutritional nutritious nutty objective obliged obscure observed observing
    obsessed obtained obtaining obvious obviously occasional occasionally occupational occupied occupying
    occurred occurring odd offending offensive offered offering official officially offshore oily older oldest
    ongoing online ons onward onwards oops open opened openly operated operatic operating operational opposed
    opposing opposite opted optical optimal optimistic optimized optimizing optional oral orbital orchestral
    orchestrated ordained ordered ordering organic organised organizational organized organizing oriented
    original originally originated originating ornate orphaned orthopedic ostensibly others ousted outdated
    outdoor outdoors outer outgoing outing outlining outnumbered outright outscored outspoken outstanding
    outwards overcoming overeating overheating overlapping overlooked overlooking overly overnight overpowering
    overseas overseeing overspending overstaying overwhelmed overwhelming overwhelmingly owing owned owning
    paced pacing packaged packed packing padded padding paid painted paired pairing palatable pale pancreatic
    pandemic panned panoramic papal parental parenting parked parliamentary parsing parted partially
    participated participating particularly partitioned partly partnered partnering passed passing passionate
    passive pasted pastel pasting patented paternal patriarchal patriotic patterned paved paying peaceful
    peacefully peaked peaking pedaling peeled pending penned perceived perennial perfect perfectly performed
    performing periodic periodically peripheral perished permanent permanently permitted persecuted persistent
    personal personalized personally persuaded petting pharmaceutical phased philanthropic philosophical
    photographed photographic physical physically picked picking pickled pickling picturesque ping pinned
    pioneered pioneering piped piping pitched pivotal placed placing plagued plain planetary planned planning
    planted planting plastic playable played playful playing pleasing plotting plumbing plural poached poetic
    poignant pointed pointing poisoned poisoning polar polarizing polished polishing polite political
    politically pooling poor poorly popular popularized popularly populated populous pornographic porous
    portable ported portrayed portraying posing positional positioned positioning positive positively possessed
    possible possibly postal posted posthumous posthumously posting postmodern postwar potent potentially potted
    potting potty pouring powdered powdery powered powerful practical practiced practicing practised praised
    praising preceded preceding precious precise precisely predictable predicted predictive predominant
    predominantly preferably preferred pregnant preheated prehistoric preinstall premature premiered premiering
    prepaid preparatory prepared preparing prescribed presented presenting presently preserved preserving preset
    presets presided presidential presiding pressed pressing pressured prestigious presumed presumptive pretty
    prevailing prevalent prevented preventing previously priced pricey pricing primarily primitive princely
    principally printed prioritized prioritizing private privately prized proactive probable probably
    problematic procedural proceed proceeded proceeding processed processing proclaimed produced producing
    productive professional professionally proficient profiling profitable profound programmed programming
    progressed progressive progressively prohibited projected prolific prolonged prominent prominently promised
    promising promoted promoting promotional prompt prompted prompting promptly prone pronounced proofing
    proofreading proper properly proportional proposed proposing prospective prospered prosperous protected
    protecting protective protested proud proved proven provided providing provisional provocative provoking
    psychedelic psychological publicly published publishing pulled pulling pumped punishing purchased purchasing
    pure purely purging pursued pursuing pushed pushing putting qualified qualifying quantitative quarterly
    querying questioned quick quicker quickly quiet quieter quirky quite quoted racial racing racking radiant
    radioactive rafting rainy raised raising random randomly ranged ranging ranked ranking rapid rapidly rapping
    rare rarely rated rather ratified rating rational raw reached reaching reacting readable readily reading
    readme ready real realistic realized really rearranged reasonable reasoning rebelled reborn rebuilding
    recalled recalling received receiving recent recently receptive rechargeable recited reclaimed reclusive
    recognised recognizable recognized recognizing recommended recommending reconstructed recorded recording
    recovered recovering recreated recreational recruited recruiting rectangular recurrent recurring recycled
    redeemed redeeming redirected reduced reducing referenced referencing referred referring refined refining
    reflected reflecting reflective reformed reforming refreshed refreshing refrigerated refused regained
    regarded regarding regardless regional registered registering regular regularly regulated regulatory
    reheating reigned reigning reinforced reinstated reintroduced reissued rejected rejoined related relating
    relatively relaxed relaxing released releasing relegated relevant reliable reliably relied religious
    relocated reluctant relying remained remaining remarkable remarked remarried remembered remembering reminded
    reminding reminiscent remote remotely removable removed removing renamed renaming rendered rendering
    renewable renewed renovated renowned renting reorganized repaired repairing repeated repeatedly repeating
    repetitive replaced replacing reported reportedly reporting repotting represented representing reprinted
    reprised reprising reproductive reputable requested requesting required requiring rescued researched
    researching resembling reserved resetting resided residential residing resigned resigning resilient
    resistant resizing resolved resolving resonant resonated resonating respected respectful respecting
    respectively respiratory responded responding responsible responsibly responsive restarted restarting
    restful resting restocking restored restoring restricted resulted resulting resumed retained retaining
    retelling retired retiring returned returning reunited reusable revealed revealing revered reversible
    reverted reviewed reviewing revised revived revoked revolutionary revolutionized rewarding rhythmic rich
    richer richest riding right rigid rigorous rinsed ripe risen rising roasted roasting robotic robust rocky
    rolled rolling romantic rooted rotating rough roughly rounded routed routinely routing rugged ruined ruled
    ruling running rural rushed rustic rusty ruthless sacked sacred sacrificing sad safely safer sailed salted
    salty sampled sanctioned sandy satirical satisfied satisfying saved saving saying scalar scaled scaling
    scanning scary scattered scenic scented scheduled scheduling scholarly scientific scientifically scored
    scoring scrambled scrapped scratching screened screening scripted scripting scrolling sculpting sealed
    sealing seamless searching seasonally seasoned seasoning seated seating secluded secondary secondly secret
    secretly secular secured securely securing seed seeded seeing seeking seemed seemingly seized seizing seldom
    select selected selecting selective selling semantic seminal sending sensitive sensory sentenced sentimental
    separated separately separating sequential serene serial serialized serious seriously served serviced
    servicing serving setting settled settling severe severed severely sexual sexually shaded shading shaken
    shaking shallow shaped shaping shared sharing sharp sharpening shaving shed shedding sheer shelving shifted
    shifting shining shiny shipped shipping shocking shooting shopping short shortened shorter shortest
    shortlisted shortly showed showing shred shredded shy sick sided sightseeing signed significant
    significantly signing silent silky silly similar similarly simple simpler simplest simplified simply
    simulating simultaneously sincere sing singing single singular sitting situated sized sizing skating skiing
    skilled skinless skipped skydiving slated sleek slender sliced slicing sliding slight slightly slim slippery
    slipping slow slower slowly small smaller smallest smart smelling smiling smoked smoky smooth smoothly
    snacking snappy snorkeling snowboarding snowy snug snugly soaked soaking soaring social socializing socially
    societal socioeconomic soft softened softer soggy solar sold soldering solely solid solitary soluble solving
    sometime somewhat somewhere sooner soothing sophisticated sorry sorted sought soulful sound sounding sour
    sourced sourcing southeastern southern southernmost southward southwestern sovereign spaced spacious spanned
    spanning spare sparingly sparked sparkling spatial spawned speaking spearheaded special specialised
    specialising specialized specializing specially specific specifically specified specifying spectacular
    speculative speed spelled spelling spending spent spiced spicy spinning spiritual splitting spoiled spoken
    spongy sponsored spontaneous spooky sporting sporty spotted spotting sprawling spreading spurred squeezed
    squeezing stable stacked stacking staged staging stained stale stalled standardized standing stargazing
    starred starring started starting stated statewide static stating stationary stationed statistical statutory
    stayed staying steadily steady stealing steamed steaming steep steeping stemming stepped stepping sticking
    sticky stiff stiffer stimulated stimulating stirring stitching stocked stoked stopped stopping stored
    storing straight straightforward strained straining stranded strange strategic strategically streaming
    streamlined strengthened strengthening strenuous stressed stressful stretched stretching strict strictly
    striking stripped strong stronger strongest strongly struck structural structured structuring struggled
    struggling strumming stubborn stuck studied studying stuffing stunning sturdy styled styling stylish
    stylized subdivided subdued subjected subjective submitted submitting subordinate subsequent subsequently
    substantial substantially substituted subtitled subtle subtropical suburban succeed succeeded succeeding
    successful successfully successive successively sudden suddenly sued suffered suffering sufficient sugary
    suggested suggesting suitable suited summarizing summary summoned sunk sunken sunny superior superseded
    supervised supervising supple supplied supplying supported supporting supportive supposed supposedly
    suppressed sure surely surfaced surfing surgical surpassed surpassing surprised surprising surprisingly
    surreal surrendered surrounded surrounding surveyed survived surviving susceptible suspected suspended
    suspenseful suspicious sustainable sustained swapped swapping sweating sweeping sweet sweetened sweeter
    swelling swept swimming swing switched switching sworn symbolic symbolizing sympathetic synced synchronized
    syncing syndicated synonymous synthetic systematic systemic tackling tactical tactile tagging tailored
    tailoring taken taking talented talked talking tall taller tallest tangible tangled tangy taped tapping
    targeted targeting tasked tasting tasty tba tbc tbd teamed technical technically technological
    technologically tedious teenage televised telling temperate tempered temporal temporarily temporary tended
    tender termed terminal terminated terminating terrestrial terrible terrifying territorial tertiary tested
    testing textured thankful thats theatrical theatrically thematic themed theological theoretical therapeutic
    thereafter thereby thermal thick thicker thin thinking thinly thinned thorough thoroughly thoughtful
    thoughtfully threatened threatening thrilled thrilling thriving throttling throwing thrown tidal tidy
    tidying tied tiered tight tightened tightening tighter tightly timeless timely timing tingling tiny tired
    titled titular toasted together toggled tolerant tonal toned tonic tooling topped topping torn tortured
    tossing totaling totally touched touching tough tougher toured touring touristy towering toxic traced
    tracing tracked tracking traded trading traditional traditionally tragic trailing trained training tranquil
    transcribed transferable transferred transferring transformed transforming transgender transitional
    transitioned transitioning translated translating translucent transmitted transparent transplanting
    transported transporting trapped traveled traveling travelled travelling treacherous treasured treated
    treating treble tremendous trending trendy tribal tributary tricky tried triggered triggering trimming
    tropical troubled troubleshooting true truly trusted trustworthy trying tubing tumultuous tuned tuning
    turned turning tutoring twice twisting twisty typed typical typically typing ubiquitous ultimately
    ultrasonic unable unanimously unauthorized unavailable uncertain unchanged unclear uncomfortable uncommon
    unconscious unconventional uncovered uncovering undefeated undefined undercover underground underlying
    underneath underprivileged understandable understanding understated understood underwater underway
    undisputed undoubtedly uneven unexpected unexpectedly unfamiliar unfinished unflattering unforeseen
    unforgettable unhealthy unicameral unified uniform unifying unincorporated uninhabited uninterrupted unique
    uniquely universally unknown unlike unlikely unlimited unmanned unmarried unnamed unnecessary unofficial
    unpleasant unprecedented unpredictable unpublished unrelated unreleased unreliable unsalted unseen unsigned
    unstable unsuccessful unsuccessfully unsupervised unsure unsweetened untitled untracked unused unusual
    unusually unveiled unwanted upcoming updated updating upfront upgraded upgrading uplifting uploaded upright
    uprising upscale upstream upwards urban urgent useful usual utilized utilizing vacant vaccinated vacuuming
    valid validated valuable valued varied various variously varying vast vehicular velvet velvety vending
    ventilated verbal verbose verified versatile vertical vertically vested viable vibrant victorious viewed
    viewing villainous violated violent viral virtually visible visited visiting visual visualizing visually
    visuals vital vivid vocal vocational voiced voicing volcanic volunteered volunteering voted voting
    vulnerable waiting waking walked walking wanted wanting warm warmest warned warping washable washed washing
    watched watching watering waterlogged weak weakened weaker wealthy wearing weathered weathering weaving weed
    weekly weighed weighing weighted weightlifting weird welcomed welcoming well western westernmost westward
    wet whatever whats wherever whilst whimsical whipped whipping whisking white whitelist whole wholesale
    wholesome wholly wide widely wider widespread widest widowed wild willing wilted winding windy winning wip
    wiped wiping wired wiring wise wisely wished withdrawn witnessed witty wonderful wondering wont wooded
    wooden worked working worldly worldwide worn worried worrying worse worshipped worsted worthwhile worthy
    wounded woven wow wrapped wrapping wrenching wrestling writing written wrong yay yeah yearly yellow
    yellowing yep yielded young younger youngest youre youthful zesty
"""

_NOUNS = """
    abilities ability abortion absence absorption abundance acceleration accent accents acceptance access
    accessibility accession accessories accessory accident accidents accolades accommodation accommodations
    accomplishment accomplishments accordance account accountability accounting accounts accuracy ace
    achievement achievements acidity acids acne acoustic acquaintances acquisition acre acres acronym acrylic
    action actions activism activist activists activities activity actor actors actress actresses adaptation
    adaptations adapter adapters addition additions additives adherents adhesive adhesives adjustment
    adjustments administration administrator administrators admission adoption ads adult adulthood adults
    advancement advancements advantage advantages advent advertising advice adviser advisor advocacy advocate
    advocates aeration aerial aerials aerodynamics affair affairs affiliate affiliates affiliation afterlife
    aftermath afternoon agave age agencies agency agenda agent agents ages aggregate aggression agility
    agreement agreements agriculture aid aids air airbrush aircraft airfield airflow airline airport airports
    airs ais album albums alcohol alert alerts algae algebra algorithm algorithms alien alignment allergies
    alliance allies allocation ally almond almonds alpha alternatives altitude aluminum alumnus amateur
    ambassador ambiance amendment amendments amenities ammonia amount amounts amp amplifiers amps amusement
    analog analysis analyst ancestor ancestors ancestry anchor ancient anecdote anecdotes animal animals
    animation animations anime ankle annexation anniversary annotations announcement announcements annual
    antagonist antennas anthem anthology anthropology anti antibiotic antibiotics anticipation antioxidants
    antiques anxiety apartment apartments aperture aphid aphids apparel appearance appearances apples appliances
    application applications appointment appointments appraisal appraisals appraiser appraisers appreciation
    approach approaches approval aquarium arc arcade arch archipelago architect architects architecture
    architectures archive archives area areas arena argument arguments aristocrat arm armchair armies arms aroma
    arrangement arrangements arranger array arrays arrival arrow art article articles artifacts artillery
    artisans artist artists arts artwork artworks ash asparagus aspect aspects aspirations assassination assault
    assertion assessment assessments assessor asset assets assignment assignments assistance assistant
    assistants associate associates associations astronaut astronomer astronomy athlete athletes atmosphere atom
    atoms attachment attack attacks attempt attempts attendance attendees attention attitude attorney attraction
    attractions attribute attributes auction auctions audience audiences audio aunt authentication authenticity
    author authorities authority authorization authors auto autobiography automation automobile automobiles
    autonomy autumn availability averages aviation aviator avocado awareness axis baby bachelor backdrop
    background backgrounds backpack backpacks backup backups backyard bacon bacteria bag baggage bags bakery
    balance balances balcony ball ballad ballet balloons ballot balls bamboo ban banana bananas band bands
    bandwidth banjo bank banker bankruptcy banks banner bar barn barony barrel barrier barriers bars base
    baseball baseballs baseline bases bash basics basil basin basis basket basketball baskets bass bassist bat
    batch batches bath bathroom baths bats batsman batteries battery battle battles beach beaches beak beans
    bearings beauty bedroom beds bedtime beef beer beers beginner beginners behalf behavior behaviors beige
    belief beliefs bell belongings beloved belt bench benchmarks benefit benefits bent berries bestseller better
    beverage beverages bias biases bicycle bike bikes billion bills bin binary binder bindings binge binoculars
    bins biographer biography biologist biology biotechnology bird birdbath birders birds birth birthday
    birthdays birthplace bit bite bites bits bitterness bitters biz blacks blank blanket blankets blend blender
    blends blind blisters block blog bloggers blogs blood bloodworms blossom blue blueberries bluegrass blues
    board boards boat boats bodies body bohemian bolts bomb bomber bombing bombs bond bonds bone bones bonus
    bonuses book bookings books bookshelf bookstore bookstores boolean boom boot booth boots border borders bore
    boredom borough boss bottle bottlenecks bottles bottom bottoms boundaries boundary bounds bounty boutique
    boutiques bowls box boxer boxes boy boyfriend brain brainstorm brake brakes branch branches brand brands
    brass bread breadcrumbs breakdown breakthrough breakthroughs breast breasts breath breaths breeding brewery
    brick bridge bridges brightness brine brisket broadcaster broccoli bronchitis bronze broth brother brothers
    brownies browser browsers brunch brush brushes buddy budget budgets buds buffer buffers buffet bug builder
    buildings buildup bulb bulbs bulk bullet bunch burden burgers burial burritos bus buses bushings business
    businesses businessman butter butternut buttery button buttons buyer buyers bytes cabaret cabbage cabin
    cabinet cabinets cable cables cache cactus cadence cafes caffeine cage cake cakes calcium calculation
    calendar calendars calf caliper caliph calorie calories cam camaraderie camber cameo camera cameras camp
    campaign campaigns campground camps campsite campsites campus campuses canal canals cancellation
    cancellations cancer candidate candidates candle candles candy canister canvas cap capabilities capability
    capacities capacity capital caps capsule captain caption captions car caramel carbohydrates carbon card
    cardamom cardboard cardinal cards care career careers cargo carpet carpets carrier carriers carrot carrots
    cars cartoon cartoonist cartoons cartridges carvings case cases cash cashew cashews casino cassette castles
    cat catalog catalogue catchment categories category cats cattle cauliflower cause causes caution cavalry
    cayenne ceiling celebration celebrations celebrities celebrity celery cell cells census cent center centers
    centre centres centuries century ceramic ceramics ceremonies ceremony certificate certificates certification
    certifications chain chains chair chairman chairs challenge challenges chamber chamomile champagne champion
    champions championship chance chances chandelier change changer changes channel channels chaos chapel
    chapters character characteristic characteristics characters charger charity charm chart charts chassis chat
    chats checklist cheese cheesecloth cheeses chef chefs chemicals chemist chemistry cherry chess chest chews
    chicken chickens chickpeas chief child childhood chili chill chips chocolate chocolates choice choices choir
    chord chords choreographer chores chorus chosen chronicles chronology chunk chunks churches cider cilantro
    cinema cinematographer cinematography cinnamon circle circles circuit circulation circumstances circus
    citation cities citizen citizens citizenship citrus city cityscape civilian civilians civilization
    civilizations claim claimant claims clan clarification clarity class classes classics classification
    classifier classmates classroom clause clauses clay cleaner cleaners cleanliness cleanser cleanup cleanups
    clearance cleat clerk client clients cliffs climate clinic clinicians clinics clip clipboard clips clock
    clocks clone closer closet closure closures cloth cloves club clubs clues clutter coach coaches coalition
    coast coaster coasters coastline coat coating coats cobbler cobblers cocaine cocktail cocktails cocoa
    coconut code codes coffee coil collaboration collaborations collaborator collaborators collagen collar
    colleague colleagues collectible collectibles collection collections collector collectors college colleges
    collision colonies colony color colors colour colours column columnist columns combat combination
    combinations combo combustion comedian comedians comedies comedy comfort comics command commander commanders
    commands comment commentary commentator comments commerce commercials commissioner commitment commitments
    commune communication communications communities community commuter companies companion company comparison
    comparisons compartment compartments compassion compatibility compensation competition competitions
    competitor competitors compilation compiler complement complements completion complex complexities
    complexity compliance complications component components composer composers composite composition
    compositions compost comprehension compression compressor computer computers computing con concentration
    concept concepts concern concerns concierge conclusion condition conditioner conditions condo conductor
    cones conference conferences confidence config configuration configurations confirmation conflict conflicts
    confluence confrontation confusion congestion conglomerate congratulations congregation conjunction
    connection connections connectivity conquest conquests cons consciousness consensus consent consequence
    consequences conservation conservators consideration consignment consistency console consoles conspiracy
    constituency constituent constraint constraints construction consul consultant consultation consumer
    consumers consumption contact contacts container containers contaminants contamination contemporaries
    content contents contest contestant contestants contests context contexts contingency continuation
    continuity contractor contractors contrast contribution contributions contributor control controller
    controls controversy convection convenience convention conventions conversation conversations conversion
    conversions convoy cookbook cooker cookie cookies cooler coop cooperation coordination coordinator copies
    copper copy copyright coral core coriander corn corner corners coronation corporations correction
    correlations correspondence correspondent corrosion corruption cost costs costume costumes cottage cotton
    couch cough counter counterparts counties countries country countryside coup coupe couple couples coupon
    coupons courage course courses coursework court courtesy courtier courts cousin cousins coverage cow
    crackers craft crafts craftsmanship cranberries crater crates cravings creation creations creativity creator
    creators creature creatures credentials credibility credit credits crest crevices crew cricket cricketer
    crime crimes crisis critic criticism critics croissants crop crops crossover crumb crust crystal cubes
    cucumber cucumbers cue cues cuisine cuisines cult culture cultures cumin cup cups curator curb curd curds
    currency current curriculum cursor curve customer customers customs cutter cycle cycles cyclist cyclists
    cylinder dad dairy dam damage damages dance dancer dancers danger dangers dash dashboard dashboards data
    database databases date dates daughter daughters day daylight days daytime deadline deadlines dealer dealers
    death deaths debris debt decade decades decal decals decay decision decisions deck declaration decor
    decoration decorations decrease dedication deductible deer default defaults defeat defects defence defender
    defense definition degree degrees dehydration deity delegation delivery demise demo democracy demographic
    demographics demonstration demonstrations demos denim denomination denominations density department
    departments departure dependencies dependency depictions deployment deposit deposits depression depth depths
    deputy des descendants descent description descriptions design designation designer designers designs desire
    desires desk desktop dessert desserts destination destinations destroyer destruction detail details
    detection detective determination detour developer developers development developments device devices
    devotional dexterity diabetes diagnosis diagnostics diagrams dialect dialects dialogue diameter diamond
    diapers diary diesel diet dietary difference differences differential difficulties difficulty digestion
    digestive dill dimension dimensionality dimensions dinner dinosaur dinosaurs diorama dioxide diplomat
    direction directions directive director directories directors directory dirt disabilities disagreement
    disaster disasters disc discard discipline disciplines disco discography discoloration discomfort discount
    discounts discoveries discovery discrimination discuss discusses discussion discussions disease diseases
    dish dishes disk disorder display displays disposal dispute disputes dissolution distance distances
    distinction distractions distribution distributor district districts dive diversity dividers division
    divisions docker docs doctor doctorate doctors doctrine document documentaries documentation documents dog
    dogs dollar dollars dollop domain domains dominance don donation donations donors door doors doubles doubt
    dough downtime dozen dozens draft drafts drain drainage drains drama dramas drawer drawers drawings dream
    dreams dresser driftwood drink drinks drip driver drivers drone drought drove drum drummer drums duet
    dumplings duo durability duration duties duty dynamics dynasty eager ear earldom earnings earrings ears
    earthquake ease east eateries eclectic economics economist economy ecosystem ecosystems edge edges edible
    edition editions editor editors education educator educators effect effectiveness effects efficiency effort
    efforts egg eggplant eggs eighteen eighteenth eighth elasticity elbow elder elderly eldest election
    elections electricity electrolyte electrolytes electron electronics electrons elegance element elements
    elephant elevation elevations elevator eleven eleventh eligibility elimination elite elixir email emails
    embassy embroidery emerald emergency emeritus emigration emissions emotion emotions empathy emperors
    emphasis empires employee employees employer employers employment empowerment enamel encouragement
    encryption end ending endpoint ends endurance enemies enemy energy enforcement engagement engine engineer
    engineering engineers engines engraver enhancement enrollment ensemble enterprise entertainer entertainment
    enthusiasm enthusiast enthusiasts entirety entities entity entrance entrepreneur entrepreneurs entries entry
    environment environments episode episodes epoxy equality equation equipment equity equivalent era eras
    erosion erotic error errors eruption escape escort esophagus espionage espresso essay essays essence
    essentials establishment estate estates estimate estimates estuary ethics ethnicity evacuation evaluation
    evaporation evening evenings event events evidence evil evolution exam examination examples exception
    exceptions excess exchange excitement exclusions execution executive executives exercise exercises
    exhibition exhibitions exile existence exit expansion expectations expectorants expedition expense expenses
    experiment experimentation experiments expertise experts expiration explanation explanations exploitation
    exploration explorer explosion exposure expression expressionism expressions extension extensions extent
    exterior extra extraction extras eye eyes fabric fabrics face faces facial facilities facility fact faction
    factions factor factors factory facts faculty failure failures fairness fairy faith fake falafel fallback
    fame familiar families family fancy fantasy fare fares farmer farmers fashion fate father fathers fatigue
    fats fatty faucet favor favorites favors favour feast feat feature features fee feedback feeder feelings
    fees feline fell fellow females feminism feminist fermentation fern fertility fertilization fertilizer
    fertilizers festivals fever fiber fibers fiction field fielder fields fifteen fifteenth fifth fifty fight
    fighter fighters fights figures figurines filename filenames fillings film filmmaker filmmakers films
    filtration finale finalist finals finance finances financier findings finish finishes firmware fish
    fisheries fishing fission fitness fixtures flag flags flagship flakes flash flavor flavorings flavors flaws
    flaxseeds flea fleet flesh flexibility flexors flight flights flock flood floor floors flow flower flowering
    flowers flows fluctuations fluids flush flyers foam focus focuses fog foil fold folder folders foliage folk
    folklore follower followers font fonts food foodie foods foot footage football footballer footprint
    footsteps force forces forests fork form formation formations former forms formula formulation fortress
    fortune forty forum forums fossil fossils foundation foundations founder founders fourteen fourteenth fourth
    fraction fragments fragrance frame frames framework frameworks franchise franchises fraud freedom freelance
    freestyle freezer frequency freshness freshwater friction fridge friend friends friendship frittata front
    frontier fruit fruits fugitive fulfillment fun function functionality functions fundamentals fundraiser
    funeral funk fur furniture fusion future gala galleries gallery gallon game games gamut gang gap gaps garage
    garden gardens garlic garnish garnishes garrison gas gates gateway gatherings gear gears gel gem gems gender
    generation generations generator genocide genre genres genus geography geology gesture getaway giant gift
    gifts gin ginger girl girlfriend git given glamour glare glass glasses glimpse gloves glow gluten glutes
    gnocchi goal goalkeeper goals goat goats goddess goddesses gods gold golf goodies goods gospel gourmet
    governance government governments governor grade grades gradient graduation graffiti grain grains grammar
    grams granddaughter grandeur grandfather grandma grandmother grandparents grandson granite granola
    grapefruit grapes graphics grass gratitude gravity gray green greenery greens grid grief grill grills grime
    grinder grip groceries grocery groundbreaking grounds group grouping groups growth guard guardian guerrilla
    guest guests guidance guide guidelines guides guitar guitarist guitarists guitars gun guns gut gym gyms
    habit habitat habitats habits hadrosaur hair half halls ham hamlet hand handbag handball handful handler
    hands happiness hardware harm harmonica harmonies harmony harvest hash hassle hat hats haul haven hazards
    head header headers headings headphones headquarters heads headset health healthcare hearing heart heartburn
    heat heel heels height heir heiress heirs helmet helmets helper helpers hemp herb herbal herbs heritage hero
    heroes heroine hiatus hickory hierarchy high highlight highlights highway highways hike hikes hills hint
    hints hip hips historian historians histories history hitch hobbies hobby hockey holder holders hole holes
    holiday holidays homage home homeland homeless homeowners homes hometown honey honor honors honour hope
    hopes horizontal horror horse horses hoses hospital hospitals host hostel hostels hosts hotel hotels hour
    hours household households houses housing hub hubs humanity humans humidifier humidifiers humidity hummus
    humor hundred hundreds hurricane husband hybrid hydration hydrogen hygiene hypothesis ice icon icons idea
    ideas identification identifier identities identity ideology illness illuminations illustrations illustrator
    image imagery images imagination imaging immigrant immigrants immigration impact impacts impeachment
    imperfections implementation implications import importance impression imprint imprisonment improvement
    improvements improvisation impulse inadmissibility inaugural incentives inception inch inches incident
    inclusion income increase increases increments indentation independence index indexes indicator indie
    individuals industries industry inequality infant infantry infection infections infestations inflammation
    inflation influence influences info information infrared infrastructure infusion ingredient ingredients
    inhabitants inheritance initial initials initiative initiatives injuries injury innovation innovations input
    inputs inquiry ins insect insects insert inserts insider insight insights inspection inspiration
    installation installations installer installment instance instances instant instincts institution
    institutions instruction instructions instructor instructors instrument instrumentalist instrumentation
    instruments insulation insurance intake integer integers integration integrations integrity intelligence
    intensity intent intention intentions interaction interactions interest interests interface interfaces
    interference interim internet interpolation interpretation interpretations intersection interval intervals
    intervention intimacy intrigue introduction invasion invasions inventor inventory investigation investigator
    investment investments investor investors invitation invitations invoices involvement ions iron irrigation
    irritation island issue issues item items iteration itinerary jacket jacks jail jargon jazz jeans jerk jet
    jeweler jewelry job jobs joint joints joke jokes journal journalism journalist journalists journals joy
    judgment juice juices junction jurisdiction jury justice kale keeper key keyboard keyboardist keyboards keys
    kibble kid kids killer kilometer kilometers kilometres kindness kinds kingdoms kings kit kitchen kitchens
    kits knee knees knife knockout knowledge lab labor labour lack ladder lakes lamb lamp lamps land landings
    landmark landmarks landowner lands landscape landscapes lanes language languages lap laps laptop laptops
    lasagna laser lasts latitudes latter laugh laundry lavender law lawn laws lawyer layer layers layout layover
    lbs lead leader leaders leadership leads leaf leagues leaks learners leather lecture lecturer lectures left
    leftover leftovers leg legend legends legislation legislature legs leisure lemon lemons lender length
    lengths lens lenses lentil lentils lesson lessons letter letters lettuce level levels leverage liability
    liberation libraries library libretto licence license licenses lid life lifespan lifestyle lifetime lighter
    lights lightweight likelihood lilies lily lime limit limitations limits line lineage linen liner lines
    lineup link links liqueur listener listeners listings liter literacy literature litter litters load loading
    loads loan loans locality locals location locations log logic login logistics logo logs longevity lookout
    loop loss losses lot lotion lots lounge love lover lovers loves loyalty lubricant luck luggage lung lunges
    luxury lying lyricist lyrics mac machine machines magazine magazines magnate magnesium magnet maiden mail
    main mainland mainstream maintenance majority maker makers makeup males mall malls man management manager
    managers mandatory manga mango manner mansion manual manufacturer manufacturers manuscript manuscripts maple
    marathon marble margin marigolds marinade markers market marketers marketplace marketplaces markets markings
    marriage marriages martini martyr mascot mass massacre master masterpiece masters mat match matcher matches
    mate mater materials math mathematician mathematics mats matte matter matters maximum mayor meal meals
    meanings measure measurements measures meat meats mechanic mechanics mechanism mechanisms medal medals
    medication medications medicine meditation meditations medium mediums meetings melodies melodrama melody
    member members membership membrane memoir memorabilia memorial memories memory men mention mentions mentor
    mentors menu menus merchandise merchant merchants merger mesh mess metal metallic metals meter meters method
    methodology methods metre metres metrics metronome metropolitan mezcal mic microorganisms microphone
    microwave mics middle midst migration migrations mile mileage miles milestone milestones militia milk
    million millions mimic min mind mindfulness mindset minerals mines mini miniature minimalist minimum mining
    ministers minorities minority mint minute minutes mirror mirrors missile missiles mission missionaries
    missionary missions mistake mistakes mistress misunderstanding mites mixer mixture mobility mode model
    modelers models modernist modes modification modifications module modules moisture mold mom moment moments
    momentum monarch monarchy monastery money monitor monk monster month months monument monuments mood morale
    morality morning mornings mortality mortgage mosque moss mother mothers motifs motion motions motivation
    motivations motivator motor motorcycle motto mountain mountains mouse mouth movement movements movie movies
    mozzarella mph mucus mud muffins mug mulch multiple mummies mummification mummy municipalities municipality
    mural murals muscle muscles museum museums mushrooms music musicals musician musicians mustard mysteries
    mystery mythology naan namesake narration narrative narratives narrator nasal nation nationalism nationalist
    nationality nations nature navigation nebulizer neck necklace necklaces needs neem neglect negotiation
    negotiations neighbor neighborhood neighborhoods neighbors neighbourhood neon nephew nerve nerves net
    network networks neutron neutrons news newsletter newsletters newspaper newspapers niche nickname niece
    night nightlife nights nineteen nineteenth ninth nitrate nitrite nitrogen nobility nobleman nobles
    noblewoman node nodes noise nomination nominations nominee nonprofit noodle noodles nook normalization norms
    north northeast northwest nose nostalgia notation notch notebook notice notification notifications notion
    novel novelist novella novels nozzle nuances number numbers numbness nun nursery nut nutmeg nutrient
    nutrients nutrition nuts nylon oasis oat oatmeal oats object objectives objects obligations observation
    observations obstacle obstacles occasion occasions occupation occupations occurrence occurrences ocean
    oceans odor odors offerings office officer officers offices officials offset oil oils olive olives omega
    omelette oncology ones onion onions opening opera operas operation operations operator operators opinion
    opinions opponent opponents opportunities opportunity opposition oppression optimization option options
    orange oranges orbit orchestra orchid orchids order orders ordinary oregano organ organisation organisms
    organist organization organizations organizer organizers organs orientation origin origins ounce ounces
    outbreak outcome outcomes outfit outfits outlet outlets outline outlines output outreach outskirts outsole
    oven overall overdrive overhead overs overthrow overview overweight owner owners ownership oxygen pace
    package packages packaging pad pads pager pages pain painter painting paintings pairings palette pancakes
    pane panel panels pantry pants paper papers paprika parade paradise parallel parameter parameters parchment
    parent parents parish parishes parking parks parody parsley partial participant participants participation
    particles particular parties partition partner partners partnership partnerships parts party passage
    passages passenger passengers passion passions passport password passwords pasta paste pastor pastries
    pastry patch patches path paths patience patient patients patio patron patronage pattern patterns pause
    payment payments peace peach peaches peak peaks peanut peas pedal pedals pedestrian pedestrians peek peeks
    peer peers pellets pen penalty pendant people peoples pepper peppers percent percentage percussion
    perfection performance performances performer performers period periods perks permission permissions permit
    permits persecution persistence person personalities personality personnel persons perspective perspectives
    pest pests pet petals petition pets phase phases phenomenon philanthropist philosopher philosophy phone
    phosphorus photo photographer photographers photography photos phrase phrases physician physicist physics
    pianist piano pic pickles pickup pickups picnic picture pie piece pieces pig pigments pile pillow pillows
    pilot pinch pineapple pink pins pipe pipeline pipes piques pirate pit pitcher pizza place placement places
    plague plane planet planets planner planners plantation plantations planter planters plaque plate plateau
    plateaus plates platform platforms platinum playback player players playground playlist playlists playoff
    playoffs playtime playwright pleasure plenty plot plots plug plugin plugins plugs plumage plus plush
    pneumonia pocket pockets poem poems poet poetry poets point pointer points poker police policies policy
    politician politicians politics poll polls pollution pool pools popularity population populations pores pork
    port portability portal portfolio portion portions portrait portraits portrayal position positions
    possession possessions possibilities possibility postcard postcards poster posters posture pot potable
    potassium potato potatoes potential potluck pots pottery pouch poultry pound pounds poverty powder powders
    power powers practice practices practitioners praise prayer prayers precautions precedence precision
    precursor predators predecessor predictions prefecture preference preferences preferment prefix pregnancy
    prelate premium premiums prep preparation prerequisites prescription presence presentation presentations
    presenter preservation presidency presidents pressings pressure pressures prevention preview prey price
    prices pride priest primary primer principal principality principle principles print printing printmaking
    prints prior priorities priority prison prisoner prisoners privacy privilege privileges prizes pro
    probability probiotic probiotics problem problems procedure procedures proceedings processor producer
    producers product production productivity products profession professionals professor professors proficiency
    profile profiles profit profits program programme programmes programs progress progression progressions
    projections prominence promo promoters promotion promotions pronunciation proof prop propaganda properties
    property proportion proportions proposal proposals proposition props pros prose prospects prosperity
    protagonist protagonists protection protector protectors protein proteins protest protests protocol
    protocols prototype provenance provider providers province provinces provincial provision provisions
    proximity pruning pseudonym psychologist psychology pub public publication publications publicity publisher
    publishers pudding pulp pumpkin punch punishment punk puppet puppy purchase purchases puree purgative purple
    purpose purposes purse pursuit pursuits puzzle puzzles qualification qualifications qualities quality
    quantities quantity quantum quart quarter quarterback quarters quartet quartz queries query questions quiche
    quizzes race racer races racism racket radar radiation radical radio radiology railway railways rain
    rainfall rainforest raisins ranch range ranges rank rankings ranks rap rapper rappers rarity raspberries
    rate rates ratification ratings ratio ratios rays reaction reactions reader readers readings realism reality
    realm rear reason reasons rebel rebellion rebels receipt receipts receiver reception recipe recipes
    recipient recipients recognition recommendation recommendations record recordings records recovery
    recreation recycling red redemption reduction reeds reel ref reference references referendum referrals
    reflection reflections reflux reformer refrigerator refuge refugee refugees regard regards regent reggae
    regime region regions registration regression regulation regulations rehabilitation reign reimbursement
    reinforcement rejection relation relations relationship relationships relative relatives relaxation relay
    release releases relevance reliability relief religion religions remainder remake remedies reminder
    reminders remnants removal renewal renovation renovations rent rental rentals repellent repertoire
    replacement replacements report reporter reports repositories repository representation representative reps
    reputation requirement requirements res resale research researcher researchers reservation reservations
    reserve reserves reservoir residence residences resident residents residue resignation resilience resin
    resistance resolution resolutions resonance resort resorts resource resources respect response responses
    responsibilities responsibility responsiveness restaurant restaurants restoration restrictions restrooms
    result results retailer retailers retention retinol retinopathy retirement retreat retreats reunion revenge
    revenue revenues reverse review reviewers reviews revision revival reward rewards rhyme rhythm rhythms
    ribbon ribs rice richness ricotta riders rights ring rings rinse risk risks ritual rituals rivalry rivers
    road roads roast roasts robotics robots rock rocket rocks rod role roles rollback roller romance roof
    rooftop rookie room rooms root roots rose rosemary rot rotation round rounds router routine routines row
    rows rpm rubber ruby rug rugby ruins rule ruler rulers rules rum rundown runner runners rust sacrifice
    saddle safe safety saffron sage sake salad salads salaries salary sale sales saline salmon salsa sample
    samples sanctuary sand sandals sandstone sang sarcophagus satellite satellites satin satire satisfaction
    saucepan sausage sausages savings savory saw saxophone saxophonist scale scales scandal scare scavenger
    scenario scenarios scene scenery scenes scent schedule schedules schema scheme schemes scholar scholars
    scholarship scholarships school schooling schools science scientist scientists scissors scoop scope score
    scorer scores scraps scratch scratches screen screenplay screenplays screens screenshot screenwriter
    screwdriver screws script scripts scroll sculptor sculpture sculptures sea seafood seal seals search
    seashell seashells season seasonal seasonings seasons seat seats seconds secrets sections sector sectors
    security seedlings segment segmentation segments selection selections self seller sellers semester semi
    semiconductor seminars senior sensation sensations sense senses sensitivity sensor sensors sent sentence
    sentences sentiment separation sequel sequels sequence sequences sergeant serials series sermon serum
    servant server servers service services sesame session sessions setbacks settings settlement settlements
    settlers setup seventeen seventh severity sex sexuality shade shades shadow shadows shaker shampoo shape
    shapes share shares sharks sheep sheet sheets shelf shell shells shelter shelters shirt shirts shock shoe
    shoes shooter shoreline shortbread shortcake shortcakes shortcut shortcuts shorthand shorts shot shots
    shoulder shoulders showcase showcases shower showers shrimp shrine shrines shutter shuttle sibling siblings
    side sides siege sight sightings sights sign signage signal signals signature signatures significance signs
    silence silica silicone silver similarities similarity simmer simplicity simulation sin singer singers
    singles sinus sinusitis sister sisters sitcom site situation situations sixteen sixteenth sixth sixty size
    sizes skeleton sketch sketches skewers ski skill skillet skills skin skincare skull sky skyline skyscraper
    slave slavery slaves sleep sleeping sleeve slice slices slide slides slip slopes slot slots smell smoke
    smoker smoking smoother smoothie snack snacks snake sneakers snippet snippets snow soap soaps soccer
    socialite societies sociology socks soda sodium sofa software soil soldier soldiers sole soles solo solos
    solution solutions someone son sonata song songs songwriter sons sophistication soprano soreness sort
    sorting sorts soul sounds soundtrack soundtracks soup soups source sources sourdough southeast southwest
    souvenir souvenirs sovereignty soy spa space spacecraft spaces spacing spaghetti span spans spark sparks
    sparrows speaker speakers specialist specialists specialization specials specialties specialty species
    specification specifications specs spectators spectrum speech speeds sphere spice spices spiciness spider
    spinach spirit spirits spirituality split splits splurge spoilage spoke sponsorship spontaneity spoon sport
    sports spot spots spouse spray sprays spread spreadsheet sprig spring sprint sprinter sprints sprouts spruce
    squad squadron square squash squat squats stability stabilization stack stadium staff stage stages stain
    stainless stains stairs stake stakeholders stakes stalls stamp stamps stance stand standard standardization
    standards stands staple staples star starch stars starter starters startup startups stash state statement
    statements statesman station stations statistics statue status steel stem stems step steps stereotypes
    sticker stickers stint stitch stock stomach stone stop stops storage store stores stories story storyline
    storylines stove strain strains strap straps strategies strategy straw strawberries strawberry straws streak
    streaks stream streams streets strength strengths stress striker string strings stroke strokes stroll
    structure structures stub student students studies studio studios study stuff style styles sub subcontinent
    subdivision subdivisions subject subjects submission submissions subscribers subscription subset subsidiary
    subspecies substitute substitution substrate subtitles suburb suburbs subway success successes succession
    successor successors succulent succulents suet suffrage sugar sugars suggestion suggestions suicide suit
    suite suites suits sum summer summers summit sunflower sunglasses sunlight sunrise sunscreen sunset
    supernatural supervision supplement supplements suppliers support supporter supporters supports surface
    surfaces surgeon surgery surname surplus surprise surprises surrender surroundings surveillance survival
    survivors sushi suspense suspension sustainability sweetener sweeteners sweetness swimmer swimmers switch
    sword symbol symbolism symbols symptoms synchronicities synchronicity syndication syndrome syntax syrup
    syrups system systems tab tables tablespoon tablespoons tablet tablets tabs tackle taco tacos tactics tag
    tags tahini tail takeaway takeaways tale talent talents tales talks tank tanks tape target targets tart
    tartness tarts task tasks taste tastes tastings tea teacher teachers teaching teachings team teammate
    teammates teams teamwork teas teaspoon teaspoons tech technician technique techniques technologies
    technology teen teenager teenagers teeth teff television temperature temperatures template templates temple
    temples tempo tennis tenor tension tensions tent tenth tenure tequila term terminals terminus terms terrain
    territories territory terrorist testimonials tetras text textbook textile textiles texts texture textures
    theater theaters theatre theatres theft theme themes theologian theology theories theorist theory therapies
    therapist therapy thermometer thesis thickness thighs thing things thinner thirds thirteen thirteenth thirty
    thought thoughtfulness thoughts thousand thousands threads threat threats threshold thresholds thrift
    thriller thrillers throat throne thumb thyme tick ticket tickets tie tier tiers ties till timber time
    timeline timelines timer times tin tiramisu tissue title titles toast toaster tobacco tofu toggle toiletries
    toilets token tokens tolerance toll tomato tomatoes tomb tombs ton tone tones tongue tons tool tools
    toothpaste top topic topics toppings tops torch torque torso tortilla tortillas tote touchdowns toughness
    tour tourism tourist tourists tournament tournaments tours towel towels towers town towns toy toys track
    tracker tracks traction trade trademark traders tradition traditions traffic tragedy trailer trainer traits
    transaction transactions transformation transformer transformers transition transitions translation
    translations translator transmission transmitter transmitters transparency transport transportation trap
    trash trauma traveler travelers tray treasure treasures treaties treatise treatment treatments trellis trend
    trends trial trials triangle tribe tribes tributaries tribute trick tricks trigger triggers trilogy trio
    trip triple tripod tripods trips trivia troops trophies trouble trout trove truck trucks trumpeter trunk
    truss trust truth tub tube tubes tuition tumor tumors tuna tune tuner tunes tunnel tunnels turboprop
    turmeric turnaround turnover turtles tutorial tutorials twelfth twelve twentieth twenty twist twists tying
    type types typescript typewriter typography ukulele ukuleles umbrella uncertainty uncle undergraduate
    underside unemployment unions uniqueness unit units unity universe universities upbeat upgrade upgrades
    upper upset uranium urgency urine usage user users uses utensil utensils utilities utility vacation
    vaccination vaccinations vacuum validation validations validity valleys valuation value values valve van
    vanilla vanity var variable variables variant variants variation variations varieties variety varnish vase
    vector vegan vegetable vegetables vegetarian vegetation veggie veggies vehicle vehicles vendor vendors
    ventilation vents venture ventures venue venues vermouth versatility verse verses version versions vessel
    vessels veteran veterans veterinarian vibe vice vicinity victim victims victories victory video videos view
    viewer viewers viewpoints views village villages villain vim vinaigrette vinegar vineyard vineyards vintage
    vinyl violation violence violin violinist virus viruses visibility vision visitor visitors visualization
    visualizations vitamin vitamins vocabulary vocalist vocals vodka voice voices volcano volleyball volume
    volumes vote voters votes voyage vulnerability wage waiver walkers wall wallet walls walnut walnuts warblers
    ward wardrobe wards warfare warmer warming warmth warranties warranty warrior wartime water waterfall
    waterfalls waterfront watermelon waterproof waterproofing waters watershed watt watts wave waves way ways
    weakness weaknesses wealth weapon weapons web website websites wedding weddings wedges weeds week weekday
    weekdays weekend weekends weeks weight weights welfare wellness west wetlands wheat wheel wheels whey
    whiteflies whites wicket wickets widow width wife wildlife willingness wind window windows winds wine
    wineries wing winger wings winner winners winter wipe wireless wisdom withdrawal witness woman won wonders
    wood woodpeckers word words worker workers workflow workflows workforce workload workout workouts workplace
    workshop workshops workspace world worlds worst worth wrestler wrist writer writers writings yard yards yarn
    year years yeast yoga yogurt youth zebra zero zest zip zombie zone zones zucchini
"""

VERBS = frozenset(_VERBS.split()) | {"suspend", "shutdown", "reboot"}
"""Ordinary verbs, without their forms in -ing and -ed."""

OTHER_WORDS = frozenset(_OTHERS.split()) | VERBS
"""Ordinary verbs, adjectives, adverbs and participles. None of them names a topic by itself."""

ORDINARY_NOUNS = frozenset(_NOUNS.split())
"""Ordinary nouns. Each may name a topic, but is not a proper name unless a text shows it."""
