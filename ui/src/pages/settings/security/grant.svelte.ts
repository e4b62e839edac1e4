// Form state for a new API key or device: permissions, expiry and allowed networks.
import { isFailure } from '../../../client/failure';
import { m } from '../../../paraglide/messages.js';
import { refusal } from '../../../parts/submission.svelte';
import { endOf, entries, type Choice } from './expiry';
import type { Scope } from './scopes';

interface Start {
  scopes: readonly Scope[];
  choice: Choice;
}

export class Grant {
  label = $state('');
  scopes = $state<Scope[]>([]);
  only = $state('');
  choice = $state<string>('never');
  date = $state('');
  addresses = $state('');
  readonly #start: Start;

  constructor(start: Start) {
    this.#start = start;
    this.reset();
  }

  reset(): void {
    this.label = this.only = this.date = this.addresses = '';
    this.scopes = [...this.#start.scopes];
    this.choice = this.#start.choice;
  }

  /** The request parameters. Throws a refusal of the first missing field. */
  asked() {
    if (!this.label.trim()) throw refusal('label', m.security_name_needed());
    if (this.scopes.length === 0) throw refusal('scopes', m.security_scopes_needed());
    if (this.choice === 'date' && !this.date) throw refusal('expires_at', m.security_key_date_needed());
    const listed = (text: string) => (text.trim() === '' ? null : entries(text));
    return {
      label: this.label.trim(),
      scopes: [...this.scopes],
      only: listed(this.only),
      expires_at: endOf(this.choice as Choice, this.date, Date.now()),
      allowed_cidrs: listed(this.addresses),
    };
  }
}

/** Maps a refused list entry (`allowed_cidrs[0]`) to the field that contains the list. */
export function ofField(error: unknown): unknown {
  const field = isFailure(error, 'INVALID_PARAMS') ? error.details.field?.match(/^\w+/)?.[0] : undefined;
  if (!field || !isFailure(error)) return error;
  if (field === 'allowed_cidrs') return refusal(field, m.security_key_addresses_wrong());
  if (field === 'expires_at') return refusal(field, m.security_key_date_past());
  return refusal(field, error.details.reason ?? error.message);
}
