// Translates the sentences that the gateway makes of deliveries. A sentence is stored as text, so it is compared with the
// English templates of its sender, and its parts are put into the template of the other language. Pure functions.

/** `{1}` in a template is a part. In the translation, `{1!}` also looks the part up in `verbs`. */
export interface Sentences {
  /** What a part says if the payload has no value for it. */
  values: Record<string, string>;
  /** What a sender calls an action, and units. */
  verbs: Record<string, string>;
  /** Translations by sender and English template. */
  senders: Record<string, Record<string, string>>;
}

export type Translate = (sentence: string, sender: string) => string | null;

interface Template {
  pattern: RegExp;
  said: string;
}

/** The number of characters that are not parts. */
const fixed = (template: string): number => template.replaceAll(/\{\d\}/g, '').length;

function patternOf(template: string): RegExp {
  const isSentence = template.endsWith('.');
  const text = isSentence ? template.slice(0, -1) : template;
  const pattern = text.replaceAll(/[.*+?^$()|[\]\\/]/g, String.raw`\$&`).replaceAll(/\{(\d)\}/g, '(?<p$1>.+?)');
  // The gateway adds the title of the subject.
  return new RegExp(`^${pattern}${isSentence ? String.raw`(?:\.|: (?<title>.+))` : ''}$`, 's');
}

export function translator({ values, verbs, senders }: Sentences): Translate {
  const known = new Map<string, readonly Template[]>();
  // Of the templates that match, the one with the most text of its own is the sentence's.
  const templatesOf = (sender: string) => {
    const found =
      known.get(sender) ??
      Object.entries(senders[sender] ?? {})
        .toSorted(([a], [b]) => fixed(b) - fixed(a))
        .map(([template, said]) => ({ pattern: patternOf(template), said }));
    known.set(sender, found);
    return found;
  };
  const verb = (part: string) => {
    const [, count, unit = ''] = /^([\d,]+) (\w+)$/.exec(part) ?? [];
    return count && verbs[unit] ? `${count} ${verbs[unit]}` : (verbs[part] ?? part);
  };
  return (sentence, sender) => {
    for (const { pattern, said } of templatesOf(sender)) {
      const found = pattern.exec(sentence);
      if (!found) continue;
      const parts = found.groups;
      const text = said.replaceAll(/\{(\d)(!?)\}/g, (_, at: string, isVerb: string) => {
        const part = parts?.[`p${at}`] ?? '';
        return values[part] ?? (isVerb ? verb(part) : part);
      });
      return parts?.title ? `${text.replace(/\.$/, '')}: ${parts.title}` : text;
    }
    return null;
  };
}
