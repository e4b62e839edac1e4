// The types of channels, with the texts about them, their fields and options in the language of the page.
import type { ChannelField, ChannelType } from '../../client/generated/rpc';
import { keys } from '../../client/keys';
import { rpc } from '../../client/rpc';
import { textsOf } from '../../phrases/texts';

/** Whether a channel works without the field. */
export const isOptional = ({ required, per_message }: ChannelField): boolean => !required && !per_message;

async function channelTypes(): Promise<ChannelType[]> {
  const [{ types }, text] = await Promise.all([rpc('channels.types'), textsOf('channels')]);
  return types.map((type) => ({
    ...type,
    about: text(type.about),
    fields: type.fields.map((field) => ({ ...field, label: text(field.label), help: text(field.help) })),
    extra: type.extra.map((one) => ({ ...one, help: text(one.help) })),
  }));
}

export const channelTypesQuery = { queryKey: keys.channelTypes, queryFn: channelTypes } as const;

/** Returns the fields that apply only while messages are received. They follow the switch. */
export function visibleFields(fields: ChannelType['fields'], isReceiving: boolean): ChannelType['fields'] {
  const at = fields.findIndex(({ name }) => name === 'inbound');
  return at < 0 || isReceiving ? fields : fields.slice(0, at + 1);
}
