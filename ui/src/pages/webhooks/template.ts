// The fields of a payload that a template can use. The gateway renders templates (`webhooks.template.preview`).

/** A number in its original spelling, so `1.50` stays `1.50`. */
class Written {
  constructor(readonly text: string) {}
}

/** Parses a payload. Throws a `SyntaxError` if the payload is invalid. */
export function parsePayload(text: string): unknown {
  // Newer browsers provide the source text of a value. Older browsers reformat numbers.
  const keep = (_: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' && context?.source !== undefined ? new Written(context.source) : value;
  return JSON.parse(text, keep as (this: unknown, key: string, value: unknown) => unknown);
}

/** A field of a payload and its value as text. */
export interface Variable {
  path: string;
  value: string;
}

/** Returns at most `most` payload fields that a template can use. */
export function variables(payload: unknown, most = 60): Variable[] {
  const found: Variable[] = [];
  const walk = (value: unknown, path: string): void => {
    if (found.length >= most) return;
    if (value instanceof Written || value === null || typeof value !== 'object') {
      if (path) found.push({ path, value: value instanceof Written ? value.text : String(value) });
      return;
    }
    for (const [key, one] of Object.entries(value)) {
      // Placeholders cannot express names with dots, braces or quotes.
      if (!/[.{}"\\]/.test(key)) walk(one, path ? `${path}.${key}` : key);
    }
  };
  walk(payload, '');
  return found;
}

/** Whether a text ends within a JSON string. */
export function endsInString(json: string): boolean {
  let isInside = false;
  for (let at = 0; at < json.length; at += 1) {
    if (isInside && json[at] === '\\') at += 1;
    else if (json[at] === '"') isInside = !isInside;
  }
  return isInside;
}
