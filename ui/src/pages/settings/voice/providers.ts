// The providers of speech or transcription, as the gateway describes them.
import type { ProviderDetails, ProviderStatus } from '../../../client/generated/rpc';
import { keys } from '../../../client/keys';
import { rpc } from '../../../client/rpc';
import { m } from '../../../paraglide/messages.js';
import { inWords } from './provider-texts';

export type Role = 'tts' | 'stt';
export type Provider = Omit<ProviderStatus, 'details'> & ProviderDetails;
export type Providers = readonly Provider[] | undefined;

/** All providers, including hidden ones. */
export const providersQuery = (role: Role) => ({
  queryKey: [...keys.voice, role, 'providers'],
  queryFn: async (): Promise<Provider[]> => {
    const details = { details: true };
    const all = await (role === 'tts' ? rpc('tts.providers', details) : rpc('stt.providers', details));
    return all.flatMap(({ details, ...status }) => (details ? inWords({ ...status, ...details }) : []));
  },
});

export const shown = (providers: Providers): Provider[] => providers?.filter(({ hidden }) => !hidden) ?? [];

export const providerOf = (providers: Providers, id: string): Provider | undefined =>
  providers?.find((one) => one.id === id);

export const nameOf = (providers: Providers, id: string): string => providerOf(providers, id)?.name ?? id;

/** What is missing until the provider is configured. */
export function missing({ needs, settings }: Provider): string {
  if (needs === 'api_key') return m.voice_missing_key();
  return m.voice_missing({ name: settings.find(({ name }) => name === needs)?.label ?? needs });
}
