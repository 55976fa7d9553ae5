"""Lists of words that the language rules share: stop words, function words, names of months and days, abbreviations."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = _words(
    """
    a an the this that these those it its he she we you they i me my mine our ours your yours his her hers their theirs
    him them us who whom whose which what when where why how there here and or but nor so yet for if then else than as
    at by in into of off on onto out over per to toward towards under up upon via with within without about above across
    after against along among around before behind below beneath beside between beyond despite down during except from
    inside like near outside past since through throughout until while whereas although though because unless whether
    once is are was were be been being am do does did done doing have has had having can could may might must shall
    should will would not no yes none nothing nobody never always often sometimes usually now later soon today tomorrow
    yesterday also again already still just only even too very much many more most less least few several some any all
    both each every either neither other another such same own first second third last next finally however therefore
    thus hence instead meanwhile moreover otherwise perhaps maybe please thanks thank ok okay hello hi hey dear let lets
    let's see use used using ask try make made get got go going give take keep add note notes todo fixme done tip
    warning example question answer figure table chapter section part page don't doesn't didn't can't won't isn't aren't
    wasn't i'm i've i'll i'd one two three four five six seven eight nine ten mr mrs ms dr prof sir st re fw vs etc am
    pm new old der die das und oder ein eine ist nicht wir sie ich le la les un une et est el los las una y es monday
    tuesday wednesday thursday friday saturday sunday january february march april june july august september october
    november december jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun
    """
)
"""Words that are neither a name nor a topic on their own, even if capitalised at the start of a sentence."""

FUNCTION_WORDS = _words(
    """
    a about above after again against all also am an and any are as at be because been before being below between both
    but by can could did do does doing down during each few for from further had has have having he her here hers him
    his how i if in into is it its itself just let me more most my no nor not of off on once only or other our ours out
    over own please same she should so some such tell than that the their theirs them then there these they this those
    through to too under until up us very was we were what when where which while who whom whose why will with would you
    your yours
    """
)
"""English words that only connect others. Sharing one of them is no match for a query."""

NON_NOUNS = _words(
    """
    add agree allow appear apply ask bad become began begin believe best better big bring came choose chose clear come
    consider contain continue create decide decided deep describe different difficult discuss discussed early easy
    enough ever exact exist expect explain fail fast feel felt few find finish follow found gave get give given go going
    good got great grow happen happened hard hear heard held important include keep kept know known large late later
    learn leave left less likely little long lose lost made main make many maybe meant meet mention mentioned might more
    much must never new next nice often pay possible prepare put quite ran ready really recent recently remember remove
    said same saw say see seem seen send sent several shall short should shown slow small solve soon speak spend started
    still strong such suggest take taken tell think thought told took true try understand used usual usually want wanted
    weak went whether wide without written wrong wrote
    """
)
"""Frequent English verbs, adjectives and adverbs. They do not name the topic of a query."""

COMMON_WORDS = _words(
    """
    aber able actually además ahora ainsi al algo alguno almost alone alors als also am an ante antes anything après
    aquí ask asked assez así au auch aucun auf aunque aus aussi autre aux avait avant avec avoir away back bad became
    become bei best better bien big bin bis bit bring brought cada call called came car case casi cause ce cela certain
    ces cet cette ceux chaque clear come comes comme comment como con contra cosa could cual cuando da damit dann dans
    das dass day days de del dem den denn depuis der des desde die dies diese diesem diesen dieser different doch does
    doing donc donde done dont dort dos du durante durch easy ein eine einem einen einer eines el ella ellas elle elles
    ellos else en encore end enough entire entonces entre er era eran es esa ese eso especially est esta este esto estos
    está están et etwas eu euch ever every everything exactly fact faire fait far feel felt find fine found fue full für
    gave general given gives goes gone good great ha haben hace hacia half han hand happen happened hard hasta hat hatte
    hay help hier high hour hours ich idea ihr il ils immer important in inside ist ja je jetzt jusqu kann keep kein
    keine kept kind knew know known la large las late le left les less let leur leurs like likely little lo long longer
    look looked looking los lot low lui machen main mais make makes making man matter me mean means mehr mein mi mich
    mientras mind minute minutes mir mit moi moins mon month months morning muss muy más même nach nada ne need needed
    needs never new ni nicht nichts night no noch non nos nosotros nothing notre nous number nun nunca nur o ob oder
    often ohne old on ont open order others otra otro ou où par para parce part pas pendant people perhaps pero peu peut
    place plus poco point por porque possible pour pourquoi probably pues put quand que quel quelle qui quien quite qué
    rather read real really reason right room sa said same sans saw say says schon se sea seem seems seen según sehr
    sein seine ser ses set several short show si sich side sie simple simply sin since sind small so sobre somebody
    someone something son sont soon sous start started still stop su sur sure sus sí ta take taken talk también tan
    tanto te tell tes thing things think though thought tiene tienen time times todo todos together toi told ton took
    tous tout toute toward tried true try très tu turn turned type um un una und under une uno unos uns unser unter use
    used uses using usted usual vers very vom von vor votre vous want wanted wants war waren was way ways week weeks
    weil well wenn went werden whole wide wie wieder will wir wird without wo word words work worked working works world
    would write written wrong wurde y ya year years yet yo zu zum zur été être über
    """
)
"""Common words that are no key phrases: English, German, French and Spanish."""

CATCH_ALL_WORDS = _words(
    """
    anything everything go going happen happened happening happens new news occurred show something went
    """
)
"""Words of a query that asks for no particular topic ("what happened?")."""

ASKING_WORDS = _words(
    """
    describe explain find found know look mean means note noted notes remember remind said say says show tell think
    thought write written wrote
    """
)
"""Words that ask for a topic without being part of it ("what did I write about ...?")."""

TELLING_WORDS = CATCH_ALL_WORDS | _words("note noted notes said say says think thought write written wrote")
"""Words of a query that asks what was said or what happened, and not for what is known of a name."""

PRESENT_WORDS = _words("anymore current currently days moment nowadays now present presently right still today")
"""Words that ask for the present."""

VERB_PREDICATES = _words(
    """
    attends belongs believes buys contains created decided depends dislikes drinks drives eats enjoys explains follows
    founded goes hates has helps includes is keeps knows leads learns lives loves likes made makes manages married meets
    moved needs owns plans plays practices practises prefers reads replaces requires runs sells sings speaks studies
    supports teaches trains uses visits wants was watches wears works writes
    """
)
"""First words of predicates that read as a sentence: "Ann lives in Lisbon", but "Ann status: away"."""

ABBREVIATIONS = _words(
    """
    dr mr mrs ms prof st sr jr rev gen col sgt capt lt hon pres gov sen rep vs etc eg ie cf al ca approx resp incl excl
    fig figs eq eqs sec ch vol nos pp ed eds trans inc ltd co corp dept univ assn bros est min max avg tel ext jan feb
    mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun bzw usw vgl evtl ggf inkl zb nr str hr fr mme
    mlle sra dra av apt
    """
)
"""Abbreviations without their full stops. A full stop behind one does not end a sentence."""

NAME_OPENERS = frozenset({"new", "la", "le", "les", "el", "los", "las", "der", "die", "second", "first"})
"""Stop words that also begin names: "New York", "La Paz", "El Niño"."""

HONORIFICS = _words("dr miss mr mrs ms prof sir")
"""Titles that come before the name of a person, without their full stops."""

LABEL_WORDS = (STOP_WORDS - HONORIFICS) | _words(
    """
    abstract action actions address agenda author background bug caution cc class conclusion cons context danger date
    decision definition description edit email error fact fix fwd goal hint idea important info ingredients key link
    links list location method name nb phone place plan plans price problem pros ps quote reminder reply result results
    source sources status step steps subject summary tags task tasks time title topic total update url version
    """
)
"""Words before a colon that label a text and name no speaker: "Note: ...", "Summary: ..."."""

CHAT_ROLES = frozenset({"ai", "assistant", "bot", "human", "me", "system", "user"})
"""What a turn of a chat may have instead of a name."""

NO_SUBJECT = STOP_WORDS | _words(
    """
    everything something someone anyone everyone everybody anything one another half life time work part people things
    meeting idea plan problem reason goal point thing way day week once unlike assuming suppose given imagine today
    yesterday tomorrow apparently hopefully maybe
    """
)
"""Words that are not the subject of a fact when a sentence begins with them."""

NO_VALUE = _words(
    """
    it this that these those them him her me us you one to be so much more most well very same how what where when why
    who for up out off too with without about from by over under into in on at as like being having getting moment least
    all both everything something nothing anything every each any hard tonight today tomorrow yesterday now again alone
    together here there home remotely part-time full-time mainly btw following next latest
    """
)
"""Words with which the value of a fact does not begin."""

PRONOUNS_OF_TALK = frozenset({"you", "your", "yours", "it", "it's", "here", "there", "them", "him", "us", "let's"})
"""Words that refer to the listener or to an earlier sentence. A value that has one is no fact."""

COMPARATIVES = frozenset({"better", "best", "more", "less", "most", "least", "either", "enough"})
"""A preference that ends with one of these compares two things and is no lasting fact."""

OPINION_WORDS = _words(
    """
    one mess problem thing joke bit pain disaster reason point best worst issue case question answer wrong right hard
    easy only first last next good bad great nice lot must shame pity mistake favourite favorite blocker bottleneck
    winner loser success failure given start end way option candidate choice alternative fit solution nightmare dream
    bargain no-brainer blessing headache deal step pleasure surprise risk challenge key week weeks day days hour hours
    minute minutes month months year years couple few little tad half while part goal plan idea different same other
    perfect bad-idea priority focus exception nut daemon beast reference
    """
)
"""Words that judge a thing or say when or how far, instead of what it is."""

PROPOSAL_WORDS = frozenset(
    {"idea", "ideas", "suggestion", "suggestions", "thought", "way", "sound", "look", "fact", "approach"}
)
"""To like one of these is to agree to a proposal, not to state a preference."""


MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
MONTHS = {
    **{name: number for number, name in enumerate(MONTH_NAMES, 1)},
    **{name[:3]: number for number, name in enumerate(MONTH_NAMES, 1)},
    "sept": 9,
}
"""Month names and their abbreviations, with the number of the month."""

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SEASONS = ("winter", "spring", "summer", "autumn")
"""The seasons north of the equator, from December on, three months each."""

SEASON_STARTS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The first month of each season."""

QUARTERS = ("q1", "q2", "q3", "q4")
TIMES_OF_DAY = ((0, "night"), (5, "morning"), (12, "afternoon"), (17, "evening"), (22, "night"))
"""The hour at which each time of day begins."""

CALENDAR_WORDS = frozenset({*MONTH_NAMES, *WEEKDAYS, *SEASONS, *QUARTERS, *(name for _, name in TIMES_OF_DAY)})
"""Every word that names a time in a temporal tag."""

NUMBER_WORDS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "three": 3, "few": 3, "several": 4, "four": 4, "five": 5,
    "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
"""The length of each unit of time in days."""

ACRONYMS_OF_TWO = _words("ai ar ui ux os ci cd pr qa hr it tv uk eu us un vr pc db js s3 go")
"""Abbreviations of two letters that name a topic. Others are mostly units, initials and variables."""

VAGUE_NOUNS = _words(
    """
    current previous core feature features creating getting main new different several next last first certain local
    general personal custom single multiple various
    extra additional specific ability action addition amount answer area aspect aspects attempt back background base
    basis beginning behavior
    behaviour benefit benefits bottom bunch case cases category center change changes chance choice class code column
    comment comments concept concepts condition content context copy couple course data date default description desc
    detail details difference document documentation edge effect element elements end entry error errors event example
    examples experience explanation expression extension field fields file files folder form format function group guide
    heading help home idea ideas image info information input instance instructions introduction issue issues item items
    key keys kind kinds label labels layer level library line lines link links list lists location look menu message
    method methods mode moment name names number object objects option options order others output overview page pages
    pair parameter parent part parts path people person piece pieces place plan point points position post prefix
    presence problem problems process program property purpose question questions range reason reasons reference
    references report request requests response rest result results role root row rule rules sample scope screen script
    section sections sense sentence series set sets setting settings setup side sign site size solution solutions sort
    source space spot stage start state statement status step steps string structure stuff style subject support syntax
    system table tag tags target task tasks template term terms test tests text thing things thread time times title
    titles tool tools top topic topics track type types unit update updates url urls usage user users value values
    variable version versions view volume way ways word words work works
    """
)
"""Nouns that say little about a text without another word."""

NO_ACRONYMS = _words(
    """
    asap btw cet cest eta est edt etc faq faqs fyi gmt hh id ids imho imo kb mb gb tb lgtm mm ms na nb nope ok pdt pst
    ps rip tba tbd tldr todo todos ttyl utc wip pre post fetch myself yourself himself herself itself
    ourselves yourselves themselves yyyy iirc afaik aka vs readme
    """
)
"""Abbreviations that name no topic: units, time zones, remarks."""
