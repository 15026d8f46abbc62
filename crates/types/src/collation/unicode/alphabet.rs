//! What Windows says of characters: their order, the marks of letters, and those that stand for several.
//!
//! The facts are those of the sorting weights that Microsoft publishes with [MS-UCODEREF], for the scripts that most
//! texts are written
//! in; what Unicode's decompositions and cases say is not said again here. Indexes on disk have this order:
//! `docs/understand/format.md`.

/// The characters of ASCII that have a weight of one byte, ascending. Between any two of them there is room for
/// [`BETWEEN`]; `\x01` keeps the
/// place of the symbols that no list here has.
pub(super) const ASCII: &[u8] =
    b" \t\n\x0B\x0C\r!\"#$%&()*,./:;?@[\\]^_`{|}~+<=>\x010123456789abcdefghijklmnopqrstuvwxyz";

/// What comes behind a character of [`ASCII`] and before the next one: letters in lower case.
pub(super) const BETWEEN: [(u8, &str); 34] = [
    (b' ', "\u{205F}\u{202F}\u{A0}"),
    (
        b'\r',
        "\u{214B}\u{2000}\u{2002}\u{2001}\u{2003}\u{2004}\u{2005}\u{2006}\u{2007}\u{2008}\u{2009}\u{200A}\u{200B}\u{2028}\u{2029}⁕⁖⁘⁙⁚⁛",
    ),
    (b'!', "‼⁉"),
    (b'"', "⁍⁎"),
    (b'#', "⁗⁔"),
    (b'$', "⁒⁐"),
    (b'%', "⁏⁌"),
    (b'&', "⁋"),
    (b'*', "ˉ⁑"),
    (b'?', "⁇⁈"),
    (b'[', "⁅"),
    (b']', "⁆"),
    (b'^', "ˆ"),
    (b'`', "ˋ"),
    (b'~', "¡¦¨¯´ˊ¸¿ǃˇ˘˙˚˛˜˝‖‗‘’‚‛“”„‟′″‶‴‷‵‸⁊‹⁓›‽‾‿¢£¤¥₱₠₣₤₥₭₦₧₨₩₯₰₮₢€₡₲₳₴₵₪₫₹₺ː"),
    (b'+', "⁄"),
    (b'>', "±«»×÷ǀǁǂ§©¬®°µ¶·‥…℗℻†‡•‣‰‱※⁀⁁⁂⁜⁝⁞"),
    (b'0', "⅒⅑⅛⅐⅙⅕¼⅓⅜⅖½⅗⅝⅔¾⅘⅚⅞"),
    (b'a', "ᴥ"),
    (b'c', "℀℁ℂ℃℄℅℆"),
    (b'd', "ɖʣʥȡꝱẟ"),
    (b'e', "ɛ"),
    (b'g', "ᵹ"),
    (b'h', "ƕʮʯⱶꜧɧ"),
    (b'l', "℔ȴꝲ"),
    (b'n', "№ȵꝴŋ"),
    (b'o', "ȣᴔ"),
    (b'r', "℞℟"),
    (b's', "℈ẛſꞅ"),
    (b't', "℡ᵺ™ʦŧ"),
    (b'u', "ᴝᴞᵫ"),
    (b'v', "℣"),
    (b'z', "ʒƾʔʕʖʡʢꜫꜭꜯꜣꞌʘʬʭꟿꝩꝫꝭꝯꝸꜥꞎꞑꞧꞩꟺ"),
    (b'9', "⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳ⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅺⅻⅼⅽⅾⅿ"),
];

/// Characters that count only between texts that are equal otherwise, ascending: behind the controls the apostrophe
/// and hyphens.
pub(super) const SPECIAL: &str = "\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}\u{8}\u{E}\u{F}\u{10}\u{11}\u{12}\u{13}\u{14}\u{15}\u{16}\u{17}\u{18}\u{19}\
    \u{1A}\u{1B}\u{1C}\u{1D}\u{1E}\u{1F}\u{7F}\u{80}\u{81}\u{82}\u{83}\u{84}\u{85}\u{86}\u{87}\u{88}\u{89}\u{8A}\u{8B}\u{8C}\u{8D}\u{8E}\u{8F}\u{90}\
    \u{91}\u{92}\u{93}\u{94}\u{95}\u{96}\u{97}\u{98}\u{99}\u{9A}\u{9B}\u{9C}\u{9D}\u{9E}\u{9F}'\u{7F4}\u{7F5}-\u{2212}\u{AD}\u{2010}\u{58A}\u{2011}\
    \u{2027}\u{2043}\u{2012}\u{2013}\u{2014}\u{2015}\u{301C}\u{3030}";

/// The Greek letters, ascending. A final sigma is a sigma.
pub(super) const GREEK: &str = "αβγδεζͱηθικλμνξοπϻρσͻτυφχψωϛϝͷϟϗϡϸϣⳬϥϧϩϫⳮϭϯ";

/// The Cyrillic letters that are not another one with a mark, ascending.
pub(super) const CYRILLIC: &str = "абвгґҕӷдԁђԃеҽәєжҗзԅѕꙅиҋіꙇјꙉкқлԡљꙥԉԕмнңҥһꚕӈԣњԋоөӏпрсԍтꚍԏҭꚋћуүұꙋфхҳцꚑчӌџшꚗщъꙑыьҍэюꙕꙗяԙѡѣꙓѥѧꙙѩꙝѫꙛѭѯѱѳѵꙟ\
    ѹѻѽѿꙍҁҏԗӆӊӎꙧӕӡꚉԇꚃꚁꙣꚅꙁꙃԟԛꚏꚓꚇꙏꙿ";

/// Letters that are another one with a mark, which Unicode does not take apart.
pub(super) const MARKED: [(char, char, u8); 66] = [
    ('ƀ', 'b', 30),
    ('ɓ', 'b', 67),
    ('ƃ', 'b', 104),
    ('ƅ', 'b', 135),
    ('ȼ', 'c', 30),
    ('ƈ', 'c', 67),
    ('ɔ', 'c', 122),
    ('ɕ', 'c', 124),
    ('đ', 'd', 30),
    ('ƌ', 'd', 34),
    ('ɗ', 'd', 67),
    ('ð', 'd', 104),
    ('ƍ', 'd', 124),
    ('ɇ', 'e', 29),
    ('ǝ', 'e', 125),
    ('ə', 'e', 126),
    ('ɘ', 'e', 128),
    ('ɜ', 'ɛ', 128),
    ('ƒ', 'f', 67),
    ('ǥ', 'g', 30),
    ('ɠ', 'g', 67),
    ('ɣ', 'g', 123),
    ('ɡ', 'g', 125),
    ('ħ', 'h', 30),
    ('ɦ', 'h', 67),
    ('ɥ', 'h', 124),
    ('ı', 'i', 4),
    ('ɨ', 'i', 30),
    ('ɩ', 'i', 123),
    ('ȷ', 'j', 4),
    ('ɉ', 'j', 29),
    ('ɟ', 'j', 30),
    ('ĸ', 'k', 4),
    ('ƙ', 'k', 67),
    ('ł', 'l', 31),
    ('ƚ', 'l', 30),
    ('ƛ', 'l', 32),
    ('ɬ', 'l', 123),
    ('ɱ', 'm', 67),
    ('ɯ', 'm', 123),
    ('ɲ', 'n', 67),
    ('ƞ', 'n', 75),
    ('ɵ', 'o', 32),
    ('ø', 'o', 33),
    ('ƣ', 'o', 124),
    ('ƥ', 'p', 67),
    ('ɋ', 'q', 69),
    ('ɍ', 'r', 29),
    ('ɹ', 'r', 123),
    ('ʃ', 's', 124),
    ('ƨ', 's', 135),
    ('ƪ', 's', 170),
    ('ƭ', 't', 67),
    ('ƫ', 't', 87),
    ('ʈ', 't', 89),
    ('ʉ', 'u', 30),
    ('ʊ', 'u', 123),
    ('ʋ', 'v', 123),
    ('ʌ', 'v', 124),
    ('ƿ', 'w', 123),
    ('ʎ', 'y', 123),
    ('ɏ', 'y', 29),
    ('ƴ', 'y', 67),
    ('ƶ', 'z', 30),
    ('ȥ', 'z', 67),
    ('ƹ', 'ʒ', 124),
];

/// Cyrillic letters that are another one with a mark, likewise.
pub(super) const MARKED_CYRILLIC: [(char, char, u8); 18] = [
    ('ғ', 'г', 26),
    ('ӻ', 'г', 61),
    ('ҿ', 'ҽ', 23),
    ('ҙ', 'з', 26),
    ('ҟ', 'к', 4),
    ('ӄ', 'к', 5),
    ('ҝ', 'к', 9),
    ('ҡ', 'к', 10),
    ('ԓ', 'л', 20),
    ('ԧ', 'һ', 3),
    ('ҩ', 'ө', 5),
    ('ҧ', 'п', 5),
    ('ҫ', 'с', 26),
    ('ӽ', 'х', 20),
    ('ӿ', 'х', 39),
    ('ҵ', 'ц', 4),
    ('ҷ', 'ч', 7),
    ('ҹ', 'ч', 9),
];

/// What a combining mark from U+0300 on adds to the mark of the letter before it; 0 for those that are letters
/// themselves or nothing.
pub(super) const COMBINING: [u8; 99] = [
    13, 12, 16, 23, 21, 62, 19, 14, 17, 63, 24, 27, 18, 3, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79,
    80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 26, 25, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 28, 28, 29, 30,
    103, 104, 105, 106, 107, 108, 109, 13, 12, 141, 70, 29, 144, 116, 117, 118, 92, 93, 94, 95, 96, 97, 0, 84, 85, 86,
    87, 88, 89, 90, 91, 30, 31, 32, 33, 40, 20, 21, 21, 23, 68, 39,
];

/// Characters that stand for others which Unicode does not take apart so.
pub(super) const EXPANDED: [(char, &str); 24] = [
    ('ß', "ss"),
    ('ẞ', "SS"),
    ('æ', "ae"),
    ('Æ', "AE"),
    ('œ', "oe"),
    ('Œ', "OE"),
    ('þ', "th"),
    ('Þ', "TH"),
    ('ǽ', "aé"),
    ('Ǽ', "AÉ"),
    ('ǣ', "aē"),
    ('Ǣ', "AĒ"),
    ('ꜳ', "aa"),
    ('Ꜳ', "AA"),
    ('ꜵ', "ao"),
    ('Ꜵ', "AO"),
    ('ꜷ', "au"),
    ('Ꜷ', "AU"),
    ('ꜹ', "av"),
    ('Ꜹ', "AV"),
    ('ꜽ', "ay"),
    ('Ꜽ', "AY"),
    ('ꝏ', "oo"),
    ('Ꝏ', "OO"),
];

/// The ranges whose characters stand for the several that Unicode's compatibility decomposition gives.
pub(super) const LIGATURES: [(char, char); 12] = [
    ('\u{132}', '\u{133}'),
    ('\u{1C4}', '\u{1CC}'),
    ('\u{1F1}', '\u{1F3}'),
    ('\u{587}', '\u{587}'),
    ('\u{675}', '\u{678}'),
    ('\u{F43}', '\u{FB9}'),
    ('\u{309F}', '\u{309F}'),
    ('\u{30FF}', '\u{30FF}'),
    ('\u{32CC}', '\u{32CE}'),
    ('\u{3371}', '\u{33DD}'),
    ('\u{FB00}', '\u{FB4F}'),
    ('\u{FBEA}', '\u{FEFC}'),
];

/// The zeros of scripts that have digits of their own, each followed by nine more digits.
pub(super) const ZEROS: [char; 31] = [
    '\u{660}', '\u{6F0}', '\u{966}', '\u{9E6}', '\u{A66}', '\u{AE6}', '\u{B66}', '\u{BE6}', '\u{C66}', '\u{CE6}',
    '\u{D66}', '\u{E50}', '\u{ED0}', '\u{F20}', '\u{1040}', '\u{17E0}', '\u{1810}', '\u{1946}', '\u{19D0}', '\u{7C0}',
    '\u{1B50}', '\u{1090}', '\u{1BB0}', '\u{1C40}', '\u{1C50}', '\u{1A80}', '\u{1A90}', '\u{A620}', '\u{A8D0}',
    '\u{A900}', '\u{AA50}',
];

/// Characters that no version gives a weight: comparisons pass over them.
pub(super) const IGNORED: [(char, char); 10] = [
    ('\0', '\0'),
    ('\u{34F}', '\u{34F}'),
    ('\u{61C}', '\u{61C}'),
    ('\u{180B}', '\u{180E}'),
    ('\u{200C}', '\u{200F}'),
    ('\u{202A}', '\u{202E}'),
    ('\u{2060}', '\u{206F}'),
    ('\u{FDD0}', '\u{FDEF}'),
    ('\u{FEFF}', '\u{FEFF}'),
    ('\u{FFF9}', '\u{FFFF}'),
];

/// Characters without a weight in version 80, whose table is that of Windows 2000, beside all outside the basic plane.
pub(super) const UNKNOWN_80: [(char, char); 57] = [
    ('\u{1F6}', '\u{1F9}'),
    ('\u{218}', '\u{24F}'),
    ('\u{2A9}', '\u{2AF}'),
    ('\u{2DF}', '\u{2DF}'),
    ('\u{2EA}', '\u{2FF}'),
    ('\u{349}', '\u{36F}'),
    ('\u{370}', '\u{373}'),
    ('\u{376}', '\u{379}'),
    ('\u{37B}', '\u{37D}'),
    ('\u{3CF}', '\u{3CF}'),
    ('\u{3D7}', '\u{3D9}'),
    ('\u{3F3}', '\u{400}'),
    ('\u{40D}', '\u{40D}'),
    ('\u{450}', '\u{450}'),
    ('\u{45D}', '\u{45D}'),
    ('\u{487}', '\u{48F}'),
    ('\u{4CD}', '\u{530}'),
    ('\u{587}', '\u{587}'),
    ('\u{58A}', '\u{590}'),
    ('\u{5EF}', '\u{5EF}'),
    ('\u{600}', '\u{60B}'),
    ('\u{60D}', '\u{61A}'),
    ('\u{653}', '\u{65F}'),
    ('\u{66D}', '\u{66F}'),
    ('\u{6D6}', '\u{6EF}'),
    ('\u{6FA}', '\u{900}'),
    ('\u{EF5}', '\u{FFF}'),
    ('\u{104D}', '\u{109F}'),
    ('\u{11FA}', '\u{1DFF}'),
    ('\u{1E9B}', '\u{1E9F}'),
    ('\u{1EFA}', '\u{1FFF}'),
    ('\u{200D}', '\u{200F}'),
    ('\u{202F}', '\u{202F}'),
    ('\u{2047}', '\u{206F}'),
    ('\u{2071}', '\u{2073}'),
    ('\u{2090}', '\u{209F}'),
    ('\u{20AD}', '\u{20CF}'),
    ('\u{20E2}', '\u{20FF}'),
    ('\u{2139}', '\u{2152}'),
    ('\u{2183}', '\u{218F}'),
    ('\u{21EB}', '\u{21FF}'),
    ('\u{22F2}', '\u{22FF}'),
    ('\u{237B}', '\u{23FF}'),
    ('\u{24EB}', '\u{24FF}'),
    ('\u{2596}', '\u{259F}'),
    ('\u{25F0}', '\u{25FF}'),
    ('\u{2614}', '\u{2619}'),
    ('\u{2670}', '\u{2700}'),
    ('\u{27BF}', '\u{2FFF}'),
    ('\u{3033}', '\u{3035}'),
    ('\u{3095}', '\u{3098}'),
    ('\u{309F}', '\u{30A0}'),
    ('\u{31A0}', '\u{31FF}'),
    ('\u{33DE}', '\u{4DFF}'),
    ('\u{9FA6}', '\u{ABFF}'),
    ('\u{D7A4}', '\u{D7FF}'),
    ('\u{FA2E}', '\u{FAFF}'),
];

/// Characters without a weight in version 90: what Unicode has had since its version 4.
pub(super) const UNKNOWN_90: [(char, char); 17] = [
    ('\u{221}', '\u{221}'),
    ('\u{234}', '\u{24F}'),
    ('\u{2EF}', '\u{2FF}'),
    ('\u{370}', '\u{373}'),
    ('\u{376}', '\u{379}'),
    ('\u{3F7}', '\u{3FF}'),
    ('\u{510}', '\u{530}'),
    ('\u{600}', '\u{60B}'),
    ('\u{750}', '\u{77F}'),
    ('\u{7C0}', '\u{8FF}'),
    ('\u{1900}', '\u{1DFF}'),
    ('\u{2C00}', '\u{2E7F}'),
    ('\u{20B2}', '\u{20CF}'),
    ('\u{2614}', '\u{2615}'),
    ('\u{A4D0}', '\u{ABFF}'),
    ('\u{9FA6}', '\u{9FFF}'),
    ('\u{FE10}', '\u{FE1F}'),
];

/// Characters without a weight in version 100: what Unicode has had since its version 5.1.
pub(super) const UNKNOWN_100: [(char, char); 11] = [
    ('\u{370}', '\u{373}'),
    ('\u{376}', '\u{377}'),
    ('\u{514}', '\u{530}'),
    ('\u{800}', '\u{8FF}'),
    ('\u{1A20}', '\u{1AFF}'),
    ('\u{1B80}', '\u{1CFF}'),
    ('\u{2C78}', '\u{2C7F}'),
    ('\u{20B6}', '\u{20CF}'),
    ('\u{2E18}', '\u{2E7F}'),
    ('\u{A4D0}', '\u{A6FF}'),
    ('\u{A722}', '\u{A7FF}'),
];
