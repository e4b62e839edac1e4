// Translates the gateway's sentences about deliveries. A sentence is stored as text. It is compared with the English
// templates of its sender, and its parts are inserted into the translated template. All functions are pure.

/** `{1}` in a template is a part. In the translation, `{1!}` also looks up the part in `verbs`. */
export interface Sentences {
  /** The text of a part if the payload has no value for it. */
  values: Record<string, string>;
  /** The sender's names of actions, and units. */
  verbs: Record<string, string>;
  /** Translations by sender and English template. */
  senders: Record<string, Record<string, string>>;
}

/**
 * `isLabel` means that a person may have written the text. A template must then have literal words.
 */
export type Translate = (sentence: string, sender: string, isLabel?: boolean) => string | null;

interface Template {
  /** No part contains `: `. */
  strict: RegExp;
  /** Any part may contain `: `. */
  loose: RegExp;
  said: string;
  fixed: number;
  hasWords: boolean;
}

/** The entry of a record. Inherited members, such as `constructor`, are not entries. */
export const entryOf = <Value>(record: Record<string, Value>, key: string): Value | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

const fixedText = (template: string): string => template.replaceAll(/\{\d\}/g, '');

function patternOf(template: string, any: string): RegExp {
  const isSentence = template.endsWith('.');
  const text = isSentence ? template.slice(0, -1) : template;
  const pattern = text
    .replaceAll(/[.*+?^$()|[\]\\/]/g, String.raw`\$&`)
    .replaceAll(/\{(\d)\}/g, (_, at: string) => `(?<p${at}>${any}+?)`);
  // The gateway adds the title of the subject.
  return new RegExp(`^${pattern}${isSentence ? String.raw`(?:\.|: (?<title>.+))` : ''}$`, 'ds');
}

const templateOf = ([english, said]: [string, string]): Template => ({
  strict: patternOf(english, '(?:(?!: ).)'),
  loose: patternOf(english, '.'),
  said,
  fixed: fixedText(english).length,
  hasWords: /\p{L}{3}/u.test(fixedText(english)),
});

/** Returns how many of the characters before `end` are literal text of the template. */
function ownBefore(end: number, found: RegExpExecArray): number {
  const parts = Object.entries(found.indices?.groups ?? {}).filter(([name]) => name !== 'title');
  const inParts = parts.reduce((sum, [, at]) => sum + (at ? Math.max(0, Math.min(at[1], end) - at[0]) : 0), 0);
  return end - inParts;
}

interface Match {
  own: number;
  isStrict: boolean;
  said: string;
  parts: Record<string, string>;
}

/**
 * Returns the best template of a sentence. The text after the first `: ` may be a title that anyone chose, so the
 * template with the most literal text before it wins. Next comes a template without `: ` in a part, then the template
 * with the most literal text. `templates` are sorted by their amount of text, longest first.
 */
function bestOf(templates: readonly Template[], sentence: string): Match | null {
  const colon = sentence.indexOf(': ');
  const end = colon === -1 ? sentence.length : colon;
  let best: Match | null = null;
  for (const { strict, loose, said, fixed } of templates) {
    if (best && fixed < best.own) break;
    const exact = strict.exec(sentence);
    const found = exact ?? (colon === -1 ? null : loose.exec(sentence));
    if (!found) continue;
    const [own, isStrict] = [ownBefore(end, found), exact !== null];
    if (best && (own < best.own || (own === best.own && (best.isStrict || !isStrict)))) continue;
    best = { own, isStrict, said, parts: found.groups ?? {} };
  }
  return best;
}

export function translator({ values, verbs, senders }: Sentences): Translate {
  const known = new Map<string, readonly Template[]>();
  const templatesOf = (sender: string) => {
    const found =
      known.get(sender) ??
      Object.entries(entryOf(senders, sender) ?? {})
        .map(templateOf)
        .toSorted((a, b) => b.fixed - a.fixed);
    known.set(sender, found);
    return found;
  };
  const verb = (part: string) => {
    const [, count, unit = ''] = /^([\d,]+) (\w+)$/.exec(part) ?? [];
    const units = entryOf(verbs, unit);
    return count && units ? `${count} ${units}` : entryOf(verbs, part);
  };
  return (sentence, sender, isLabel = false) => {
    const all = templatesOf(sender);
    const best = bestOf(isLabel ? all.filter((template) => template.hasWords) : all, sentence);
    if (!best) return null;
    const { said, parts } = best;
    const text = said.replaceAll(/\{(\d)(!?)\}/g, (_, at: string, isVerb: string) => {
      const part = parts[`p${at}`] ?? '';
      return (isVerb ? verb(part) : undefined) ?? entryOf(values, part) ?? part;
    });
    return parts.title ? `${text.replace(/\.$/, '')}: ${parts.title}` : text;
  };
}
