# Protects the table in cells.csv with an R package: Rscript peers.R sdcTable|GaussSuppression
# cells.csv: one row per cell: a column per dimension, value, primary, inner, lower, upper.
# codes.csv: dimension, code, parent; parents before children. Writes hidden.csv: the codes of the suppressed cells.

tool <- commandArgs(trailingOnly = TRUE)[1]
codes <- read.csv("codes.csv", colClasses = "character")
dims <- unique(codes$dimension)
types <- c(setNames(rep("character", length(dims)), dims), value = "numeric", primary = "integer",
           inner = "integer", lower = "numeric", upper = "numeric")
cells <- read.csv("cells.csv", colClasses = types)
inner <- cells[cells$inner == 1, ]
key <- function(frame) do.call(paste, c(lapply(dims, function(d) as.character(frame[[d]])), sep = "\t"))
primary <- key(cells)[cells$primary == 1]

by_sdc_table <- function() {
  suppressPackageStartupMessages(library(sdcTable))
  trees <- lapply(dims, function(d) {
    tree <- sdcHierarchies::hier_create(root = "Total")
    mine <- codes[codes$dimension == d & codes$code != "Total", ]
    for (i in seq_len(nrow(mine)))
      tree <- sdcHierarchies::hier_add(tree, root = mine$parent[i], nodes = mine$code[i])
    tree
  })
  names(trees) <- dims
  problem <- makeProblem(data = inner, dimList = trees, dimVarInd = match(dims, names(inner)),
                         freqVarInd = match("value", names(inner)))
  listed <- as.data.frame(sdcProb2df(problem, addDups = FALSE, addNumVars = FALSE, dimCodes = "original"))
  at <- match(listed$strID, getInfo(problem, type = "strID"))
  found <- match(key(listed), key(cells))
  unsafe <- which(cells$primary[found] == 1)
  for (i in unsafe) {
    problem <- setInfo(problem, type = "sdcStatus", index = at[i], input = "u")
    problem <- setInfo(problem, type = "LPL", index = at[i], input = cells$lower[found[i]])
    problem <- setInfo(problem, type = "UPL", index = at[i], input = cells$upper[found[i]])
  }
  result <- as.data.frame(getInfo(protectTable(problem, method = "HITAS"), type = "finalData"))
  result[result$sdcStatus %in% c("u", "x"), dims, drop = FALSE]
}

by_gauss <- function() {
  suppressPackageStartupMessages(library(GaussSuppression))
  trees <- lapply(dims, function(d) {
    mine <- codes[codes$dimension == d & codes$code != "Total", ]
    if (all(mine$parent == "Total")) "Total"
    else data.frame(mapsFrom = mine$code, mapsTo = mine$parent, sign = 1L)
  })
  names(trees) <- dims
  result <- GaussSuppressionFromData(data = inner, hierarchies = trees, numVar = "value", candidates = CandidatesNum,
                                     primary = function(crossTable, ...) key(crossTable) %in% primary,
                                     singleton = NULL, printInc = FALSE)
  result[result$suppressed, dims, drop = FALSE]
}

hidden <- switch(tool, sdcTable = by_sdc_table(), GaussSuppression = by_gauss())
write.csv(hidden, "hidden.csv", row.names = FALSE)
