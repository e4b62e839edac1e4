// Which providers have models for agents.
import type { Provider } from '../../../client/generated/rpc';

/** Whether agents can use one of the providers. */
export const hasModel = (providers: readonly Pick<Provider, 'kind' | 'configured' | 'detected'>[]): boolean =>
  providers.some(({ kind, configured, detected }) => kind !== 'tts' && kind !== 'stt' && (configured || detected));
