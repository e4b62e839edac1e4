import { m } from '../../paraglide/messages.js';
import { channelName, typeName } from '../channels/names';

interface Channel {
  id: string;
  type: string;
  label: string;
  enabled: boolean;
}

/** Returns the target of a channel. Built-in channels are addressed only by type. */
const targetOf = ({ id, type }: Channel) => (id === type ? type : `${type}:${id}`);

/** Whether a target accepts a JSON body in a custom format. */
export const takesJson = (target: string, types: readonly { type: string; takes_json: boolean }[] | undefined) =>
  types?.some(({ type, takes_json }) => takes_json && type === target.split(':')[0]) ?? false;

/** Returns the channel's name, followed by its type if the type adds information. */
function nameIn(channel: Channel, type: string): string {
  const name = channelName(channel);
  return name === type ? name : `${name} (${type})`;
}

/**
 * Returns the channels as options, including the current target even if its channel no longer
 * exists.
 */
export function targetOptions(
  channels: readonly Channel[],
  types: readonly { type: string; label: string }[],
  current: string,
) {
  const labelOf = (type: string) => {
    const found = types.find((one) => one.type === type);
    return found ? typeName(found) : type;
  };
  const all = channels.map((channel) => ({
    value: targetOf(channel),
    label: nameIn(channel, labelOf(channel.type)),
    disabled: !channel.enabled,
  }));
  const isKnown = all.some(({ value }) => value === current);
  return isKnown ? all : [...all, { value: current, label: current, disabled: false }];
}

/** Returns the channels as options, with a first option for no channel. */
export const optionalTargets = (...[channels, types, current]: Parameters<typeof targetOptions>) => [
  { value: '', label: m.webhooks_answer_nowhere(), disabled: false },
  ...targetOptions(channels, types, current).filter(({ value }) => value !== ''),
];
