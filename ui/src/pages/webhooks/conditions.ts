// The conditions of a payload filter as form state. Pure functions.
import type { Comparison, Condition } from '../../client/generated/rpc';
import { m } from '../../paraglide/messages.js';

/** A condition as it is typed. */
export interface ConditionDraft {
  path: string;
  is: Comparison;
  /** A number, true, false, null or a text in quotation marks as in JSON, or any other text. */
  value: string;
  /** An alternative to the condition before it. The first one has none before it. */
  or: boolean;
}

type Value = Exclude<Condition['value'], undefined>;

export const MAX_CONDITIONS = 20;

export const emptyCondition = (): ConditionDraft => ({ path: '', is: 'equals', value: '', or: false });

export const takesValue = (is: Comparison): boolean => is !== 'exists' && is !== 'missing';

/** Reads a typed value. What is not JSON is a text, and so is a list or an object. */
export function valueOf(typed: string): Value {
  const text = typed.trim();
  try {
    const read: unknown = JSON.parse(text);
    if (read === null || typeof read === 'string' || typeof read === 'boolean') return read;
    if (typeof read === 'number' && Number.isFinite(read)) return read;
  } catch {
    // A text.
  }
  return text;
}

/** A value as it is typed. A field for one line cannot show control characters. */
const textOf = (value: Value): string =>
  typeof value === 'string' && valueOf(value) === value && !/\p{Cc}/u.test(value) ? value : JSON.stringify(value);

/** A path, also if it was copied from a template with its braces. */
const pathOf = (typed: string): string => typed.trim().replace(/^\{(.*)\}$/, '$1');

export const filterConditions = (stored: readonly Condition[] | undefined): ConditionDraft[] =>
  (stored ?? []).map(({ path, is, value, or }) => ({
    path,
    is,
    value: takesValue(is) ? textOf(value ?? null) : '',
    or: or ?? false,
  }));

/** The conditions as a request parameter; null without any. */
export const payloadFilterOf = (typed: readonly ConditionDraft[]): Condition[] | null =>
  typed.length === 0
    ? null
    : typed.map(({ path, is, value, or }, at) => ({
        path: pathOf(path),
        is,
        ...(takesValue(is) && { value: valueOf(value) }),
        ...(or && at > 0 && { or }),
      }));

/** Removes a condition. Its first alternative takes its place. */
export const withoutCondition = (typed: readonly ConditionDraft[], at: number): ConditionDraft[] =>
  typed
    .map((one, index) => (index === at + 1 && one.or ? { ...one, or: typed[at]?.or ?? false } : one))
    .filter((_, index) => index !== at);

/** Errors by field, such as `payload_filter.0.path`. */
export function conditionErrors(typed: readonly ConditionDraft[]): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const [at, { path, is, value }] of typed.entries()) {
    if (pathOf(path) === '') errors[`payload_filter.${at}.path`] = m.webhooks_error_condition_path();
    if (!takesValue(is)) continue;
    const field = `payload_filter.${at}.value`;
    const read = valueOf(value);
    if (value.trim() === '') errors[field] = m.webhooks_error_condition_value();
    else if (typeof read !== 'number') {
      if (is === 'greater' || is === 'less') errors[field] = m.webhooks_error_condition_number();
    } else if (Math.abs(read) > Number.MAX_SAFE_INTEGER) {
      // JavaScript rounds larger numbers, but the gateway compares whole numbers exactly.
      errors[field] = m.webhooks_error_condition_large();
    }
  }
  return errors;
}

/** The gateway's reason for a refusal at the field that it names, or at the whole filter. */
export function placedErrors(errors: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { number, member, reason } =
    /^condition (?<number>\d+): (?<member>path|is|value): (?<reason>.+)$/s.exec(errors.payload_filter ?? '')?.groups ??
    {};
  if (!number || !member || !reason) return errors;
  const { payload_filter: _, ...others } = errors;
  return { ...others, [`payload_filter.${Number(number) - 1}.${member}`]: reason };
}
