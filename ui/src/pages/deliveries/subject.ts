// The readable form of an entity key: "codehost_a:house/gateway:pr:482" becomes "house/gateway pr 482".
export const subjectOf = (entity: string): string => entity.replace(/^[a-z_]+:(?=.)/, '').replaceAll(':', ' ');
