// What a sender is called.
import type { ProfileInfo } from '../../../client/generated/rpc';

/** The sender's name: that of the product, where the gateway puts it in brackets. */
export const productName = ({ name }: Pick<ProfileInfo, 'name'>): string => /\(([^)]+)\)$/.exec(name)?.[1] ?? name;
