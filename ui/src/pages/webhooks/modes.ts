// Authentication modes, as the gateway lists them.
import { createQuery } from '@tanstack/svelte-query';
import type { AuthMode, AuthModeInfo, ProfileInfo } from '../../client/generated/rpc';
import { m } from '../../paraglide/messages.js';
import { baseLocale, getLocale } from '../../paraglide/runtime.js';
import { productName } from './product';
import { profilesQuery } from './profiles';

export interface Modes {
  all: readonly AuthModeInfo[];
  of: (mode: AuthMode) => AuthModeInfo | undefined;
  name: (mode: AuthMode) => string;
  /** Whether the sender generates the secret, which the user pastes here. */
  isSecretBrought: (mode: AuthMode) => boolean;
}

/** Call it while a component is initialized. */
export function useModes(): Modes {
  const profiles = createQuery(() => profilesQuery);
  const of = (mode: AuthMode) => profiles.data?.auth_modes.find(({ id }) => id === mode);
  return {
    get all() {
      return profiles.data?.auth_modes ?? [];
    },
    of,
    name: (mode) => modeName(mode, of(mode), profiles.data?.profiles ?? []),
    isSecretBrought: (mode) => of(mode)?.secret_from_sender ?? false,
  };
}

const NAMES: Partial<Record<AuthMode, () => string>> = {
  bearer: m.webhooks_mode_bearer,
  none: m.webhooks_mode_none,
  standard_webhooks: m.webhooks_mode_standard,
  static_header: m.webhooks_mode_static,
};

/**
 * Returns the name of a mode. A mode of a single sender has the sender's name. In English, the gateway's names also
 * contain the header.
 */
export function modeName(
  mode: AuthMode,
  info: Pick<AuthModeInfo, 'name'> | undefined,
  profiles: readonly Pick<ProfileInfo, 'id' | 'name' | 'default_auth_mode'>[],
): string {
  const general = NAMES[mode];
  if (general) return general();
  const sender = profiles.find((one) => one.default_auth_mode === mode);
  if (sender && getLocale() !== baseLocale) {
    const name = productName(sender);
    if (mode.endsWith('_token')) return m.webhooks_mode_token({ name });
    if (/_(signature|hmac_sha256)$/.test(mode)) return m.webhooks_mode_signature({ name });
  }
  return info?.name ?? mode;
}

const GENERAL: readonly AuthMode[] = ['static_header', 'bearer', 'standard_webhooks', 'none'];

/**
 * Returns the modes to offer, first the sender's own modes, then the general modes. The generic
 * profile offers all modes.
 */
export function modesFor(all: readonly AuthMode[], profile: string, own: AuthMode, current: AuthMode): AuthMode[] {
  const offered = profile === 'generic' ? [...GENERAL, ...all] : [own, ...GENERAL, current];
  return [...new Set(offered)];
}
