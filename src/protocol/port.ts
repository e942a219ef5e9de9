// Whether it is the port that is wrong with an address: who reads addresses only says that it is none.

const PORT = /(:\/\/[^/?#]+):[^/?#:\]@]*(?=[/?#]|$)/;

export const hasBadPort = (address: string): boolean =>
  !URL.canParse(address) && URL.canParse(address.replace(PORT, '$1'));
