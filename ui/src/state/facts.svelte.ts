// What the page knows of the gateway before it asks (the shell carries it), kept true afterwards by answers and events.
import type { Shape } from '../client/http';

export type VaultStatus = 'uninitialized' | 'sealed' | 'unsealed' | 'disabled';

export interface Facts {
  product: string;
  vault_status: VaultStatus;
  voice_enabled: boolean;
  has_passkeys: boolean;
  setup_required: boolean;
  auth_disabled: boolean;
}

const carried = document.querySelector<HTMLMetaElement>('meta[name=gatehouse]')?.content ?? '{}';

export const facts: Facts = $state({
  product: 'Gatehouse',
  vault_status: 'uninitialized',
  voice_enabled: false,
  has_passkeys: false,
  setup_required: false,
  auth_disabled: false,
  ...read(carried),
});

function read(text: string): Partial<Facts> {
  try {
    return JSON.parse(text) as Partial<Facts>;
  } catch {
    return {};
  }
}

/** How often the live line told of the vault. */
let told = 0;

/** The live line tells of the vault, in the order in which things happened. */
export function hearVault(status: string): void {
  told++;
  facts.vault_status = status as VaultStatus;
}

/**
 * Called before the gateway is asked over HTTP; gives what takes its answer. Answers may be overtaken: what the live line told meanwhile is
 * the same or newer, and stays.
 */
export function askVault(): (status: string) => void {
  const before = told;
  return (status) => {
    if (told === before) facts.vault_status = status as VaultStatus;
  };
}

/** What `GET /api/auth/status` says, for what else is shown of it; `vault` was made before it was asked. */
export function learn(status: Shape<'AuthStatus'>, vault: (status: string) => void): void {
  vault(status.vault_status);
  facts.has_passkeys = status.has_passkeys;
  facts.setup_required = status.setup_required;
  facts.auth_disabled = status.auth_disabled;
}
