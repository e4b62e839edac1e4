// Authentication modes, as the gateway lists them.
import { createQuery } from '@tanstack/svelte-query';
import type { AuthMode, AuthModeInfo } from '../../client/generated/rpc';
import { profilesQuery } from './profiles';

export interface Modes {
  all: readonly AuthModeInfo[];
  of: (mode: AuthMode) => AuthModeInfo | undefined;
  name: (mode: AuthMode) => string;
  /** The sender generates the secret and the user pastes it here. */
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
    name: (mode) => of(mode)?.name ?? mode,
    isSecretBrought: (mode) => of(mode)?.secret_from_sender ?? false,
  };
}

const GENERAL: readonly AuthMode[] = ['static_header', 'bearer', 'standard_webhooks', 'none'];

/** The modes to offer: the sender's own first, then the general ones. The generic profile offers all. */
export function modesFor(all: readonly AuthMode[], profile: string, own: AuthMode, current: AuthMode): AuthMode[] {
  const offered = profile === 'generic' ? [...GENERAL, ...all] : [own, ...GENERAL, current];
  return [...new Set(offered)];
}
