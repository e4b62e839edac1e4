// A setting of the gateway: whether it can be changed here, and changing it.
import { rpc } from '../../client/rpc';

/** Whether nobody can change it here: it was given when the gateway was started, by the environment or the command line. */
export const isFixed = (setting: { origin: string } | undefined): boolean =>
  setting?.origin === 'environment' || setting?.origin === 'command_line';

/** Changes a setting; null takes the change back. */
export const setSetting = (key: string, value: unknown) => rpc('config.set', { key, value });
