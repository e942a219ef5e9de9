// Whether it is the port that is wrong with an address: who reads addresses only says that it is none, and takes port 0.

const PORT = /(:\/\/[^/?#]+):[^/?#:\]@]*(?=[/?#]|$)/;

export const hasBadPort = (address: string): boolean =>
  URL.canParse(address) ? new URL(address).port === '0' : URL.canParse(address.replace(PORT, '$1'));
