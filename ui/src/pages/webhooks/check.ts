// Validates the form before it is sent. Errors use the gateway's field names.
import { m } from '../../paraglide/messages.js';
import { numberOf } from '../../parts/numeral';
import { number } from '../../parts/time';
import { entries, isNetwork } from './cidr';
import { conditionErrors } from './conditions';
import { inputOf, type Draft } from './draft';
import { PROFILE, scheduleError } from './schedule';

export type Errors = Readonly<Record<string, string>>;

const MAX_RATE = 1_000_000;
const MAX_BODY_KIB = 25_600;
/** Header names are tokens (RFC 9110, sections 5.1 and 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Whether a filter entry is an event type, or a prefix followed by `.*`. */
const isPattern = (entry: string): boolean => {
  const exact = entry.endsWith('.*') ? entry.slice(0, -2) : entry;
  return exact !== '' && !exact.includes('*');
};

export function check(draft: Draft): Errors {
  const errors = draft.profile === PROFILE ? {} : conditionErrors(draft.conditions);
  if (draft.profile === PROFILE) {
    const missing = scheduleError(draft.schedule);
    if (missing !== null) errors.schedule = missing;
  }
  if (draft.name.trim() === '') errors.name = m.webhooks_error_name();

  const { allow, deny } = inputOf(draft).events as { allow: string[]; deny: string[] };
  const bad = [...allow, ...deny].find((entry) => !isPattern(entry));
  if (draft.filter !== 'all' && [...draft.picked, ...entries(draft.others)].length === 0) {
    errors.events = m.webhooks_error_events();
  } else if (bad !== undefined) errors.events = m.webhooks_error_pattern({ entry: bad });

  const wrong = entries(draft.cidrs).find((entry) => !isNetwork(entry));
  if (wrong !== undefined) errors.allowed_cidrs = m.webhooks_error_cidr({ entry: wrong });

  const rate = numberOf(draft.rate);
  if (!Number.isInteger(rate) || rate < 1 || rate > MAX_RATE)
    errors.rate_limit_per_minute = m.webhooks_error_number({ most: number(MAX_RATE) });
  const kib = numberOf(draft.maxKib);
  if (!(kib > 0) || kib > MAX_BODY_KIB) {
    errors.max_body_bytes = m.webhooks_error_number({ most: number(MAX_BODY_KIB) });
  }
  if (draft.mode === 'static_header' && draft.header.trim() !== '' && !TOKEN.test(draft.header.trim())) {
    errors.header = m.webhooks_error_header();
  }
  if (draft.eventHeader.trim() !== '' && !TOKEN.test(draft.eventHeader.trim())) {
    errors.event_header = m.webhooks_error_header();
  }
  if (draft.ownSecret && draft.mode !== 'none' && draft.secret === '') errors.secret = m.webhooks_error_secret();
  return errors;
}
