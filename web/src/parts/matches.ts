/** Words of a question inside texts: which of them a text has, and where. */

const bare = (word: string): string => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
const escaped = (word: string): string => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Endings that forms of one word differ in. */
const ENDINGS = "(?:ies|ied|ing|ings|es|ed|en|er|ers|em|ly|s|e|n|d|y|’s|'s)?";

/** A pattern for a word and its other forms: "remove" also means "removes", "removed" and "removing". */
function formsOf(word: string): string {
  const stem = word.length < 4 ? word : word.replace(/(?:ies|ied|ying|ing|ed|es|[sey])$/u, "");
  const base = stem.length < 3 ? word : stem;
  // "run" is in "running"; but "file" is not in "filling".
  const doubled = /[bdgmnprt]$/u.test(base) && !/e$/u.test(word) ? `${base.at(-1)}?` : "";
  return `${escaped(base)}${doubled}${ENDINGS}`;
}

const isSpoken = (word: string): boolean => word.length > 2 || /\p{N}/u.test(word) || /[^\p{ASCII}]/u.test(word);

/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Splits a text at the words: odd parts are words. Undefined if there are none to look for. */
export function matcher(words: string[]): RegExp | undefined {
  const asked = [...new Set(words.flatMap((word) => word.split(/\s+/)).map(bare).filter(isSpoken))];
  const patterns = asked.map((word) => (UNSPACED.test(word) ? escaped(word) : `(?<![\\p{L}\\p{N}])${formsOf(word)}(?![\\p{L}\\p{N}])`));
  return patterns.length ? new RegExp(`(${patterns.join("|")})`, "giu") : undefined;
}

/** Those of the words that a text has. */
export function matched(words: string[], text: string): string[] {
  return words.filter((word) => matcher([word])?.test(text));
}
